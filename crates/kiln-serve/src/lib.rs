//! The faces that are not a terminal: a local page and an MCP server, both over `kiln-app`'s operations.

mod connections;
pub mod mcp;
pub mod page;

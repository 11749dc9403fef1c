//! `kiln mcp` as clients meet it: the official Python SDK and rmcp's own client, in both revisions of the protocol, and what no client would send.

// A test that cannot go on says so by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod folder;
mod http;
mod install;
mod python;
mod raw;
mod rust;

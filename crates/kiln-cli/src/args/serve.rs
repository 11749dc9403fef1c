//! Flags of `kiln serve`.

use std::net::IpAddr;

use clap::Args;
use kiln_serve::page::PORT;

#[derive(Debug, Args)]
#[command(
    after_help = "The page shows what is recorded and follows studies while they run, whichever terminal runs them. It needs no network, and only this machine can reach it. From elsewhere, forward the port (`ssh -L 8321:localhost:8321 HOST`), or give an address with --address: then the page needs the token in the link that is printed. docs/serve.md says what else is checked.\n\nExamples:\n  kiln serve --open\n  kiln serve --port 0 --json\n  kiln serve --address 0.0.0.0 --name gpu7.lab"
)]
pub(crate) struct ServeArgs {
    /// Port to listen on; 0 picks a free one
    #[arg(long, default_value_t = PORT)]
    pub(crate) port: u16,
    /// Address to listen on, for others to reach; they need the token of the link that is printed [default: this machine alone]
    #[arg(long, value_name = "IP")]
    pub(crate) address: Option<IpAddr>,
    /// Another name of this machine that browsers may use; may be given several times
    #[arg(long, value_name = "HOST")]
    pub(crate) name: Vec<String>,
    /// Ask for a token on this machine too, where others have accounts
    #[arg(long)]
    pub(crate) token: bool,
    /// Open the page in a browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Print the address as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

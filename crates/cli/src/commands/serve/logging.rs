//! Writes the server's log to standard error, for people or for programs.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;

use crate::args::LogFormat;

pub(super) fn begin(format: LogFormat) {
    let wanted = EnvFilter::builder()
        .with_env_var("PLEACH_LOG")
        .with_default_directive(tracing::level_filters::LevelFilter::INFO.into())
        .from_env_lossy()
        .add_directive(few_words_on_files());
    let log = tracing_subscriber::fmt()
        .with_env_filter(wanted)
        .with_target(false)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
        LogFormat::Off => {}
    }
}

/// Nobody wants to hear of each file of the board that it is there.
fn few_words_on_files() -> Directive {
    "memory_serve=warn"
        .parse()
        .expect("the directive is well formed")
}

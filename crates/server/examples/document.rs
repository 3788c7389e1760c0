//! Prints the document of the API, byte for byte as the server gives it.

#![expect(clippy::print_stdout, reason = "that is what it is for")]

fn main() {
    print!("{}", pleach_server::document_text());
}

//! The program: passes its arguments to the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    sandbox::cli::main(std::env::args_os())
}

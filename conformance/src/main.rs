//! The command line: parse, dispatch, exit code.

fn main() -> std::process::ExitCode {
    leaseproof_conformance::cli::main()
}

//! The launcher as a program of its own, for this crate's tests, examples and the bench.
//!
//! The product runs the same function under a hidden name of its one binary.
//! Start with `warren_sandbox::launcher::main`.

fn main() -> std::process::ExitCode {
    warren_sandbox::launcher::main()
}

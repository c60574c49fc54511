//! The backend `local` keeps the contract.

mod ground;

async fn local() -> ground::LocalGround {
    ground::LocalGround::new().await
}

warren_sandbox::conformance_tests!(local);

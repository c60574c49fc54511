//! The page of every error code, carried inside the binary: `type` of a problem document leads to it.

use warren_domain::ErrorCode;

macro_rules! page {
    ($code:literal) => {
        include_str!(concat!("../../../docs/errors/", $code, ".md"))
    };
}

/// The page of a code. A code without a page does not compile.
pub(crate) fn page(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::BadRequest => page!("BAD_REQUEST"),
        ErrorCode::Unauthorized => page!("UNAUTHORIZED"),
        ErrorCode::BudgetExceeded => page!("BUDGET_EXCEEDED"),
        ErrorCode::Forbidden => page!("FORBIDDEN"),
        ErrorCode::NotFound => page!("NOT_FOUND"),
        ErrorCode::MethodNotAllowed => page!("METHOD_NOT_ALLOWED"),
        ErrorCode::NotAcceptable => page!("NOT_ACCEPTABLE"),
        ErrorCode::Conflict => page!("CONFLICT"),
        ErrorCode::RecordingExpired => page!("RECORDING_EXPIRED"),
        ErrorCode::RunInProgress => page!("RUN_IN_PROGRESS"),
        ErrorCode::ApprovalNotPending => page!("APPROVAL_NOT_PENDING"),
        ErrorCode::VersionConflict => page!("VERSION_CONFLICT"),
        ErrorCode::SessionElsewhere => page!("SESSION_ELSEWHERE"),
        ErrorCode::SessionEnded => page!("SESSION_ENDED"),
        ErrorCode::PreconditionFailed => page!("PRECONDITION_FAILED"),
        ErrorCode::RangeNotSatisfiable => page!("RANGE_NOT_SATISFIABLE"),
        ErrorCode::TooLarge => page!("TOO_LARGE"),
        ErrorCode::UnsupportedMediaType => page!("UNSUPPORTED_MEDIA_TYPE"),
        ErrorCode::Misdirected => page!("MISDIRECTED"),
        ErrorCode::IdempotencyMismatch => page!("IDEMPOTENCY_MISMATCH"),
        ErrorCode::ConversionFailed => page!("CONVERSION_FAILED"),
        ErrorCode::QueueFull => page!("QUEUE_FULL"),
        ErrorCode::MessageLimit => page!("MESSAGE_LIMIT"),
        ErrorCode::Internal => page!("INTERNAL"),
        ErrorCode::Unavailable => page!("UNAVAILABLE"),
        ErrorCode::ConverterMissing => page!("CONVERTER_MISSING"),
        ErrorCode::Timeout => page!("TIMEOUT"),
        ErrorCode::SandboxError => page!("SANDBOX_ERROR"),
        ErrorCode::IsolationMissing => page!("ISOLATION_MISSING"),
        ErrorCode::AgentError => page!("AGENT_ERROR"),
        ErrorCode::AgentUnknown => page!("AGENT_UNKNOWN"),
        ErrorCode::LlmError => page!("LLM_ERROR"),
        ErrorCode::ServerRestarted => page!("SERVER_RESTARTED"),
        ErrorCode::OutOfMemory => page!("OUT_OF_MEMORY"),
        ErrorCode::DataDamaged => page!("DATA_DAMAGED"),
        ErrorCode::DiskLimit => page!("DISK_LIMIT"),
        ErrorCode::StorageLimit => page!("STORAGE_LIMIT"),
    }
}

#[cfg(test)]
mod tests {
    use super::page;
    use warren_domain::ErrorCode;

    #[test]
    fn every_code_leads_to_its_own_page() {
        for code in ErrorCode::ALL {
            assert!(page(*code).starts_with(&format!("# {code}\n")), "{code}");
        }
    }
}

//! `artifact verify`.

use std::fmt::Write as _;

use artifact_container::seal::PublicKey;
use artifact_container::trust::{AssessedSeal, Assessment, SealStatus, Timestamp, TrustPolicy};
use artifact_container::{Container, ReadOptions};
use artifact_export::ExportError;
use serde_json::json;

use crate::arguments::VerifyArguments;
use crate::failure::{Exit, Failure, Outcome};
use crate::output::{self, one_line};
use crate::program::require_artifact;
use crate::trust::Trust;

pub(crate) fn execute(options: &VerifyArguments) -> Outcome<Exit> {
    let path = &options.artifact;
    // First: a trust file that is wrong should not cost the reading of a large artifact.
    let trust = options.trust.as_deref().map(Trust::read).transpose()?;
    require_artifact(path, "nothing else has digests and seals")?;
    let refuse = |error| Failure::export(path, &ExportError::from(error));
    let container = Container::open_with(path, &ReadOptions::describe_only()).map_err(refuse)?;
    container.verify_all().map_err(refuse)?;
    let assessment = match &trust {
        Some(trust) => trust.assess(&container),
        // Without dates there is no time.
        None => TrustPolicy::nobody().assess(&container, Timestamp::from_unix_seconds(0)),
    };
    let assessment = assessment.map_err(refuse)?;
    if options.json {
        output::json(&as_json(&container, &assessment, trust.is_some())?)?;
    } else {
        output::text(&as_text(&container, &assessment, trust.is_some()))?;
    }
    Ok(exit(&assessment, trust.is_some()))
}

fn exit(assessment: &Assessment, has_policy: bool) -> Exit {
    let is_invalid = |seal: &AssessedSeal| matches!(seal.status, SealStatus::Invalid(_));
    if has_policy {
        if assessment.is_met() {
            Exit::Ok
        } else {
            Exit::NotAllowed
        }
    } else if assessment.seals.iter().any(is_invalid) {
        Exit::CheckFailed
    } else {
        Exit::Ok
    }
}

/// One or two words for a seal, and a sentence. Where nobody was asked who is trusted, a good signature is no matter of trust.
fn status(assessed: &AssessedSeal, has_policy: bool) -> (&'static str, String) {
    match (&assessed.status, &assessed.seal) {
        (SealStatus::Untrusted, Some(seal)) if !has_policy => {
            ("valid", format!("key {} has signed this file", seal.key_id()))
        }
        (status, _) => (status.name(), assessed.to_string()),
    }
}

fn as_text(container: &Container, assessment: &Assessment, has_policy: bool) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut line = |label: &str, value: String| {
        let _ = writeln!(text, "{label:<20}{}", one_line(&value));
    };
    line("file digest", container.file_digest().to_string());
    line("content digest", container.content_digest().to_string());
    line("verified", "every byte".to_owned());
    if assessment.seals.is_empty() {
        line("seals", "none".to_owned());
    }
    for assessed in &assessment.seals {
        let (status, reason) = status(assessed, has_policy);
        let mut value = format!("{status}: {reason}");
        if let Some(seal) = &assessed.seal {
            let _ = write!(value, "; scope `{}`, comment `{}`", seal.scope(), seal.comment());
        }
        line("seal", value);
    }
    let policy = match (has_policy, assessment.is_met()) {
        (false, _) => "none was given, so no seal counts; --trust says whose do".to_owned(),
        (true, true) => format!("met: {assessment}"),
        (true, false) => format!("not met: {assessment}"),
    };
    line("policy", policy);
    text
}

fn as_json(container: &Container, assessment: &Assessment, has_policy: bool) -> Outcome<String> {
    let seals = assessment.seals.iter().map(|assessed| {
        let seal = assessed.seal.as_ref();
        let (status, reason) = status(assessed, has_policy);
        json!({
            "status": status,
            "reason": reason,
            "name": assessed.name,
            "key_id": seal.map(|seal| seal.key_id().to_string()),
            "public_key": seal
                .and_then(|seal| PublicKey::from_bytes(seal.key_bytes()).ok())
                .map(|key| key.to_string()),
            "scope": seal.map(|seal| seal.scope().as_str()),
            "comment": seal.map(|seal| seal.comment().as_str()),
        })
    });
    let policy = has_policy.then(|| {
        json!({
            "is_met": assessment.is_met(),
            "signers_needed": assessment.signers_needed,
            "signers": assessment.signers(),
            "file_revoked": assessment.revoked,
        })
    });
    let document = json!({
        "file_digest": container.file_digest().to_string(),
        "content_digest": container.content_digest().to_string(),
        "seals": seals.collect::<Vec<_>>(),
        "policy": policy,
    });
    let text = serde_json::to_string_pretty(&document);
    text.map(|text| text + "\n")
        .map_err(|error| Failure::internal("the findings have no JSON form").because(&error))
}

//! Where something was taken out, for whoever shows a part of a stream.

use crate::Detector;
use crate::rules::RuleId;

/// A part of a stream that was taken out. Positions count all of the stream's
/// bytes, those of escape sequences too; the sequences themselves stay, so that
/// one secret may be several cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The first byte that is gone.
    pub from: u64,
    /// Behind the last one.
    pub to: u64,
    /// The number of the name in its place; none where it continues the cut
    /// before.
    pub label: Option<RuleId>,
}

impl Detector {
    /// Appends to `out` a part of a stream that begins at `at`, without what
    /// was cut. A secret is named where it begins, and only there.
    pub fn show(&self, cuts: &[Cut], at: u64, bytes: &[u8], out: &mut Vec<u8>) {
        let end = at + bytes.len() as u64;
        let index = |position: u64| {
            let position = position.clamp(at, end);
            usize::try_from(position - at).expect("it is within the bytes")
        };
        let first = cuts.partition_point(|cut| cut.to <= at);
        let mut shown = at;
        for cut in cuts[first..].iter().take_while(|cut| cut.from < end) {
            out.extend_from_slice(&bytes[index(shown)..index(cut.from)]);
            if let (Some(label), true) = (cut.label, cut.from >= at) {
                self.name(label, out);
            }
            shown = cut.to;
        }
        out.extend_from_slice(&bytes[index(shown)..]);
    }
}

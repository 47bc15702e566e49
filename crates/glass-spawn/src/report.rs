//! What a reaper tells the keeper: fixed records over a private socket, made
//! without allocating, because a reaper is a process that never executed.

use glass_model::Usage;

/// Bytes of a record.
pub(crate) const REPORT_BYTES: usize = 72;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// The launch that it is about.
    pub launch: u64,
    /// What happened to it.
    pub news: News,
}

/// What can happen to a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// There is a child; it has not executed its program yet.
    Forked {
        pid: i32,
        start_ticks: u64,
        in_cgroup: bool,
    },
    /// The child executes its program.
    Started,
    /// The child could not be started. `detail` counts from 1 which mount of
    /// its walls it was about; 0 for none.
    Failed { stage: u32, errno: i32, detail: u64 },
    /// The first process of the child's own namespace.
    Walled { pid: i32, start_ticks: u64 },
    /// The child ended with this raw wait status, and had used so much.
    Exited { raw: i32, usage: Usage },
}

impl Report {
    /// As bytes.
    pub fn encode(&self) -> [u8; REPORT_BYTES] {
        let (kind, flag, number, ticks) = match self.news {
            News::Forked {
                pid,
                start_ticks,
                in_cgroup,
            } => (1u32, u32::from(in_cgroup), pid, start_ticks),
            News::Started => (2, 0, 0, 0),
            News::Failed {
                stage,
                errno,
                detail,
            } => (3, stage, errno, detail),
            News::Exited { raw, .. } => (4, 0, raw, 0),
            News::Walled { pid, start_ticks } => (5, 0, pid, start_ticks),
        };
        let used = match self.news {
            News::Exited { usage, .. } => usage,
            _ => Usage::default(),
        };
        let mut bytes = [0; REPORT_BYTES];
        let fields = [
            &self.launch.to_ne_bytes()[..],
            &kind.to_ne_bytes(),
            &flag.to_ne_bytes(),
            &number.to_ne_bytes(),
            &[0; 4],
            &ticks.to_ne_bytes(),
            &used.user_us.to_ne_bytes(),
            &used.system_us.to_ne_bytes(),
            &used.peak_memory_bytes.to_ne_bytes(),
            &used.read_bytes.to_ne_bytes(),
            &used.written_bytes.to_ne_bytes(),
        ];
        for (place, byte) in bytes.iter_mut().zip(fields.into_iter().flatten()) {
            *place = *byte;
        }
        bytes
    }

    /// From bytes, if they are a record.
    pub fn decode(bytes: &[u8]) -> Option<Report> {
        let bytes: &[u8; REPORT_BYTES] = bytes.try_into().ok()?;
        let word = |at: usize| -> Option<[u8; 4]> { bytes.get(at..at + 4)?.try_into().ok() };
        let long = |at: usize| -> Option<[u8; 8]> { bytes.get(at..at + 8)?.try_into().ok() };
        let flag = u32::from_ne_bytes(word(12)?);
        let number = i32::from_ne_bytes(word(16)?);
        let start_ticks = u64::from_ne_bytes(long(24)?);
        let news = match u32::from_ne_bytes(word(8)?) {
            1 => News::Forked {
                pid: number,
                start_ticks,
                in_cgroup: flag != 0,
            },
            2 => News::Started,
            3 => News::Failed {
                stage: flag,
                errno: number,
                detail: start_ticks,
            },
            5 => News::Walled {
                pid: number,
                start_ticks,
            },
            4 => News::Exited {
                raw: number,
                usage: Usage {
                    user_us: u64::from_ne_bytes(long(32)?),
                    system_us: u64::from_ne_bytes(long(40)?),
                    peak_memory_bytes: u64::from_ne_bytes(long(48)?),
                    read_bytes: u64::from_ne_bytes(long(56)?),
                    written_bytes: u64::from_ne_bytes(long(64)?),
                },
            },
            _ => return None,
        };
        Some(Report {
            launch: u64::from_ne_bytes(long(0)?),
            news,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was() {
        let all = [
            News::Forked {
                pid: 77,
                start_ticks: u64::MAX - 3,
                in_cgroup: true,
            },
            News::Started,
            News::Failed {
                stage: 3,
                errno: -5,
                detail: 9,
            },
            News::Walled {
                pid: 78,
                start_ticks: 5,
            },
            News::Exited {
                raw: 0x8900,
                usage: Usage {
                    user_us: 1,
                    system_us: u64::MAX,
                    peak_memory_bytes: 3 << 30,
                    read_bytes: 4,
                    written_bytes: 5,
                },
            },
        ];
        for news in all {
            let report = Report {
                launch: 1 << 40,
                news,
            };
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        assert_eq!(Report::decode(&[0; REPORT_BYTES]), None);
        assert_eq!(Report::decode(&[1; 5]), None);
    }

    proptest::proptest! {
        #[test]
        fn any_record_is_read_as_it_would_be_written(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..96),
            kind in 0..7_u8,
        ) {
            let mut bytes = bytes;
            if let Some(byte) = bytes.get_mut(8..12) {
                byte.copy_from_slice(&u32::from(kind).to_ne_bytes());
            }
            if let Some(report) = Report::decode(&bytes) {
                proptest::prop_assert_eq!(Report::decode(&report.encode()), Some(report));
            }
        }
    }
}

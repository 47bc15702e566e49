use super::*;
use crate::wire::{Exited, Failed, Named};

const REAPER: i32 = 500;

const USED: Usage = Usage {
    user_us: 7,
    system_us: 1,
    peak_memory_bytes: 4096,
    read_bytes: 0,
    written_bytes: 512,
};

fn launches() -> Launches {
    let mut launches = Launches::default();
    let id = launches.next_id().expect("room");
    launches.insert(id, record(REAPER));
    launches
}

fn record(reaper: i32) -> Record {
    Record {
        reaper: ProcessRef {
            pid: reaper,
            start_ticks: 1,
        },
        child: None,
        init: None,
        limit_groups: Vec::new(),
        memory: None,
        cgroup: Some("/cgroup/x".into()),
        tag: b"tag".to_vec(),
        held: Vec::new(),
        asker: Some(Asker {
            connection: 1,
            seq: 7,
        }),
        status: None,
        reaper_lives: true,
        emptied: false,
        forgotten: false,
    }
}

fn report(news: News) -> Report {
    Report { launch: 1, news }
}

fn forked(launches: &mut Launches) {
    let news = News::Forked {
        pid: 501,
        start_ticks: 2,
        in_cgroup: true,
    };
    assert_eq!(launches.apply(report(news), Some(1)), []);
}

fn exited(status: WaitStatus) -> Effect {
    Effect::Event(Say::Exited(Exited {
        id: 1,
        status: Some(status.into()),
        usage: match status {
            WaitStatus::Unknown => None,
            _ => Some(USED.into()),
        },
    }))
}

fn emptied() -> [Effect; 2] {
    let event = Effect::Event(Say::Emptied(Named { id: 1 }));
    [Effect::RemoveCgroup("/cgroup/x".into()), event]
}

#[test]
fn an_ordinary_launch_begins_ends_and_empties_once() {
    let mut launches = launches();
    assert!(launches.any_nameless());
    forked(&mut launches);
    assert!(!launches.any_nameless());
    let effects = launches.apply(report(News::Started), Some(1));
    assert!(matches!(effects[..], [Effect::Answer(_, Say::Launched(_))]));
    let end = launches.apply(
        report(News::Exited {
            raw: 0x0300,
            usage: USED,
        }),
        Some(1),
    );
    assert_eq!(end, [exited(WaitStatus::Exited(3))]);
    assert_eq!(launches.reaper_ended(REAPER, ReaperEnd::Done), emptied());
    assert_eq!(launches.reaper_ended(REAPER, ReaperEnd::Done), []);
    assert!(!launches.any_alive() && launches.any_unclaimed());
    let page = launches.page(0);
    assert_eq!(page.launches.len(), 1);
    assert!(page.launches[0].emptied);
    launches.forget(1).expect("it was there");
    assert!(!launches.any_unclaimed());
    assert_eq!(launches.forget(1), Err(HoldError::UnknownLaunch));
}

#[test]
fn a_failed_launch_is_told_to_whoever_asked_and_forgotten() {
    let mut launches = launches();
    forked(&mut launches);
    let failed = News::Failed {
        stage: 4,
        errno: 2,
        detail: 0,
    };
    let effects = launches.apply(report(failed), Some(1));
    let answer = Say::Failed(Failed {
        stage: 4,
        errno: 2,
        detail: 0,
    });
    assert_eq!(
        effects,
        [Effect::Answer(
            Asker {
                connection: 1,
                seq: 7
            },
            answer
        )]
    );
    assert!(launches.page(0).launches.is_empty());
    assert!(launches.any_alive());
    launches.reaper_ended(REAPER, ReaperEnd::Done);
    assert!(!launches.any_alive());
}

#[test]
fn a_failure_that_nobody_hears_is_kept_as_an_unknown_end() {
    for connection in [None, Some(2)] {
        let mut launches = launches();
        forked(&mut launches);
        let effects = launches.apply(
            report(News::Failed {
                stage: 4,
                errno: 2,
                detail: 0,
            }),
            connection,
        );
        assert_eq!(effects, [exited(WaitStatus::Unknown)]);
        assert_eq!(launches.page(0).launches.len(), 1);
    }
}

#[test]
fn a_killed_reaper_leaves_an_unknown_end_and_empties_with_its_orphans() {
    let mut launches = launches();
    forked(&mut launches);
    launches.apply(report(News::Started), Some(1));
    let effects = launches.reaper_ended(REAPER, ReaperEnd::Killed);
    let kill = Effect::KillCgroup("/cgroup/x".into());
    assert_eq!(effects, [exited(WaitStatus::Unknown), kill]);
    assert!(launches.any_alive() && !launches.is_reaper(REAPER));
    assert_eq!(launches.orphans_gone(), emptied());
    assert!(!launches.any_alive());
}

#[test]
fn a_reaper_killed_before_its_child_began_fails_the_launch() {
    let mut launches = launches();
    let effects = launches.reaper_ended(REAPER, ReaperEnd::Killed);
    assert!(
        matches!(effects[0], Effect::Answer(_, Say::Failed(_))),
        "{effects:?}"
    );
    launches.orphans_gone();
    assert!(!launches.any_alive() && !launches.any_unclaimed());
}

#[test]
fn a_child_outside_of_its_cgroup_is_shown_without_one() {
    let mut launches = launches();
    let news = News::Forked {
        pid: 501,
        start_ticks: 2,
        in_cgroup: false,
    };
    let effects = launches.apply(report(news), Some(1));
    assert_eq!(effects, [Effect::RemoveCgroup("/cgroup/x".into())]);
    assert!(launches.page(0).launches[0].cgroup.is_empty());
}

#[test]
fn pages_cover_every_launch_once() {
    let mut launches = Launches::default();
    let count = PAGE_LAUNCHES_MAX * 2 + 3;
    for pid in 0..count {
        let id = launches.next_id().expect("room");
        launches.insert(id, record(i32::try_from(pid).expect("small")));
    }
    launches.forget(5).expect("it was there");
    let mut seen = Vec::new();
    loop {
        let page = launches.page(seen.last().copied().unwrap_or(0));
        seen.extend(page.launches.iter().map(|info| info.id));
        if !page.more {
            break;
        }
    }
    let expected: Vec<u64> = (1..=count as u64).filter(|id| *id != 5).collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_label_that_is_held_again_is_replaced_and_too_many_are_refused() {
    let fd = || {
        Arc::new(OwnedFd::from(
            std::fs::File::open("/dev/null").expect("opens"),
        ))
    };
    let mut launches = launches();
    launches
        .hold(1, vec![("a".into(), fd()), ("b".into(), fd())])
        .expect("held");
    launches.hold(1, vec![("b".into(), fd())]).expect("held");
    assert_eq!(launches.held(1).map(<[_]>::len), Some(2));
    let many = (0..HELD_PER_LAUNCH_MAX)
        .map(|i| (i.to_string(), fd()))
        .collect();
    assert_eq!(launches.hold(1, many), Err(HoldError::TooMany));
    launches
        .unhold(1, &["a".into(), "c".into()])
        .expect("let go");
    assert_eq!(launches.held(1).map(<[_]>::len), Some(1));
    assert_eq!(launches.hold(9, Vec::new()), Err(HoldError::UnknownLaunch));
}

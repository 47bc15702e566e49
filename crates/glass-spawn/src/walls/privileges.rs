//! What the shell gives up for ever before it executes its program.

use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::{Errno, Result};
use rustix::thread::{CapabilitiesSecureBits, CapabilitySet, CapabilitySets};

use super::filter::{self, Facts, Supervised};
use super::landlock::{self, Rules};
use super::layout::{Look, Place, Plan};
use super::{At, Failure, handover, place};
use crate::stage::Stage;
use crate::sys::{kernel, notify};

/// The highest capability that is asked about; the kernel has fewer.
const CAPABILITY_MAX: u32 = 63;

/// Devices that may be written to where there is no `/dev` of our own.
const DEVICES: [&std::ffi::CStr; 4] = [c"dev/null", c"dev/zero", c"dev/full", c"dev/tty"];

/// Gives up everything, in the order in which each step is still allowed to.
/// After this only the program may be executed. Where there is an `init`, it is
/// asked about what the filter cannot decide.
pub(crate) fn confine(
    plan: &Plan,
    rules: &Rules,
    init: Option<BorrowedFd<'_>>,
) -> std::result::Result<(), Failure> {
    let facts = Facts {
        namespaces: plan.build == glass_model::WallBuild::Namespaces,
        network: plan.network,
        root: rustix::process::geteuid().is_root(),
        supervised: match (init, plan.refuses_repositories) {
            (None, _) => Supervised::Nothing,
            (Some(_), false) => Supervised::Memory,
            (Some(_), true) => Supervised::MemoryAndNames,
        },
    };
    drop_capabilities().at(Stage::Privileges)?;
    rustix::thread::set_no_new_privs(true).at(Stage::Privileges)?;
    rules.enter().at(Stage::Landlock)?;
    filter_calls(facts, init).at(Stage::Seccomp)
}

/// Filters calls. Where somebody around us listens to calls already, nobody
/// else can, and what would be asked about is refused.
fn filter_calls(facts: Facts, init: Option<BorrowedFd<'_>>) -> Result<()> {
    let alone = Facts {
        supervised: Supervised::Nothing,
        ..facts
    };
    let Some(init) = init else {
        return kernel::filter_calls(&filter::program(alone));
    };
    match notify::filter_calls_listening(&filter::program(facts)) {
        Ok(listener) => handover::send(init, Ok(listener.as_fd())),
        Err(Errno::BUSY) if facts.supervised == Supervised::Memory => {
            kernel::filter_calls(&filter::program(alone))
        }
        Err(errno) => Err(errno),
    }
}

/// Gives up every capability, and every way to have one again.
fn drop_capabilities() -> Result<()> {
    for capability in 0..=CAPABILITY_MAX {
        match kernel::drop_from_bounds(capability) {
            Ok(()) => {}
            // Beyond the last one that the kernel has.
            Err(Errno::INVAL) => break,
            // Who has no capabilities need not lose any: no_new_privs keeps
            // it so.
            Err(Errno::PERM) if holds_none()? => break,
            Err(errno) => return Err(errno),
        }
    }
    rustix::thread::clear_ambient_capability_set()?;
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED;
    match rustix::thread::set_capabilities_secure_bits(bits) {
        Err(Errno::PERM) if holds_none()? => {}
        set => set?,
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets {
        effective: none,
        permitted: none,
        inheritable: none,
    };
    rustix::thread::set_capabilities(None, sets)
}

fn holds_none() -> Result<bool> {
    let sets = rustix::thread::capabilities(None)?;
    Ok(sets.permitted.is_empty())
}

/// The rules for walls without namespaces: nothing is written but in writable
/// places and to a few devices.
pub(crate) fn enter_landlock_only(
    plan: &Plan,
    terminals: &[BorrowedFd<'_>],
) -> std::result::Result<Rules, Failure> {
    landlock::version_that_stands_alone().at(Stage::Landlock)?;
    // Secrets are hidden by naming everything else.
    let names_readable = |place: &Place| place.look == Look::Same { writable: false };
    let rules = match plan.places.iter().any(names_readable) {
        true => Rules::with_reading(),
        false => Rules::new(),
    };
    let mut rules = rules.at(Stage::Landlock)?;
    let root = place::root().at(Stage::Root)?;
    for (place, detail) in plan.places.iter().zip(1u32..) {
        let at = |stage: Stage| {
            move |errno: Errno| Failure {
                stage,
                errno,
                detail,
            }
        };
        let found = match place::find(root.as_fd(), &place.path) {
            // What has gone needs no right.
            Err(Errno::NOENT) if names_readable(place) => continue,
            found => found.map_err(at(Stage::Mount))?,
        };
        let stat = rustix::fs::fstat(&found).map_err(at(Stage::Mount))?;
        if place
            .expected
            .is_some_and(|id| id != place::identity(&stat))
        {
            return Err(at(Stage::Changed)(Errno::STALE));
        }
        match place.look {
            Look::Same { writable: true } => rules.allow_writing(found.as_fd()),
            _ => rules.allow_reading(found.as_fd()),
        }
        .map_err(at(Stage::Landlock))?;
    }
    for device in DEVICES {
        let device = place::find(root.as_fd(), device).at(Stage::Devices)?;
        rules.allow_devices(device.as_fd()).at(Stage::Landlock)?;
    }
    for terminal in terminals {
        rules.allow_terminal(*terminal).at(Stage::Landlock)?;
    }
    Ok(rules)
}

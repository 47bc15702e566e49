//! What a daemon needs to know before it begins: flags over configuration, and
//! every path absolute.

use super::exposure;
use crate::cli::Serve;
use crate::client;
use crate::config::{self, CgroupUse, ModeName, Settings, Sources, StartupName};
use crate::dirs::{self, Dirs};
use crate::error::{Failure, Kind};
use glass_model::{Mode, Startup};
use glass_session::Sandboxing;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How a daemon is to run.
pub(super) struct Plan {
    /// The configuration, with the flags on top.
    pub settings: Settings,
    /// Where the journal lives.
    pub data_dir: PathBuf,
    /// Where the daemon listens.
    pub socket: PathBuf,
    /// Where sessions have their pipes, and the keeper its socket.
    pub runtime_dir: PathBuf,
    /// Where our own things usually are.
    dirs: Dirs,
}

impl Plan {
    /// Reads the configuration and puts the flags on top. One daemon serves
    /// many projects, so no project's layer is read.
    pub(super) fn new(arguments: &Serve) -> Result<Plan, Failure> {
        let dirs = Dirs::of_this_process()?;
        let user = arguments
            .config
            .clone()
            .unwrap_or_else(|| dirs.config_file());
        let mut settings = config::load(&Sources {
            user,
            user_is_required: arguments.config.is_some(),
            project: None,
            variables: config::variables(),
        })?
        .settings;
        if let Some(listen) = arguments.listen {
            settings.daemon.listen = listen;
        }
        if let Some(filter) = &arguments.log {
            settings.daemon.log.clone_from(filter);
        }
        if let Some(format) = arguments.log_format {
            settings.daemon.log_format = format;
        }
        exposure::put_flags(arguments, &mut settings.daemon)?;
        exposure::check(&settings.daemon)?;
        let data_dir = match &arguments.data_dir {
            Some(given) => absolute(given)?,
            None => absolute(&client::data_dir(&dirs, &settings))?,
        };
        let socket = match &arguments.socket {
            Some(given) => absolute(given)?,
            None => absolute(&client::socket(&dirs, &settings)?)?,
        };
        dirs::check_socket_path(&socket)?;
        let runtime_dir = runtime_dir(&dirs, &data_dir);
        dirs::make_private(&dirs.runtime)?;
        dirs::make_private(&runtime_dir)?;
        let plan = Plan {
            settings,
            data_dir,
            socket,
            runtime_dir,
            dirs,
        };
        dirs::check_socket_path(&plan.keeper_socket())?;
        Ok(plan)
    }

    /// The keeper's socket.
    pub(super) fn keeper_socket(&self) -> PathBuf {
        self.runtime_dir.join("keeper.sock")
    }

    /// Where our process number stands while we serve.
    pub(super) fn pid_file(&self) -> PathBuf {
        self.socket.with_extension("pid")
    }

    /// The same flags for the process in the background, whose directory is
    /// another.
    pub(super) fn arguments(&self, given: &Serve) -> Result<Vec<OsString>, Failure> {
        let mut arguments: Vec<OsString> = vec![
            "--socket".into(),
            self.socket.clone().into(),
            "--data-dir".into(),
            self.data_dir.clone().into(),
        ];
        if let Some(config) = &given.config {
            arguments.extend(["--config".into(), absolute(config)?.into()]);
        }
        if let Some(listen) = given.listen {
            arguments.extend(["--listen".into(), listen.to_string().into()]);
        }
        if let Some(filter) = &given.log {
            arguments.extend(["--log".into(), filter.into()]);
        }
        if let Some(format) = given.log_format {
            arguments.extend(["--log-format".into(), format.as_str().into()]);
        }
        arguments.extend(exposure::arguments(given)?);
        Ok(arguments)
    }

    /// The mode of a session that asks for none; absent is auto.
    pub(super) fn mode(&self) -> Option<Mode> {
        match self.settings.session.mode {
            ModeName::Auto => None,
            ModeName::Line => Some(Mode::Line),
            ModeName::Pipe => Some(Mode::Pipe),
        }
    }

    /// The start files of a session that asks for none.
    pub(super) fn startup(&self) -> Startup {
        match self.settings.session.startup {
            StartupName::Login => Startup::Login,
            StartupName::Rc => Startup::Rc,
            StartupName::None => Startup::Nothing,
        }
    }

    /// The directory of a session that asks for none: ours.
    pub(super) fn working_directory(&self) -> String {
        let here = std::env::current_dir().ok();
        let text = here.and_then(|path| path.into_os_string().into_string().ok());
        text.unwrap_or_else(|| "/".to_owned())
    }

    /// How sandboxes are made. Nothing of ours is shown in one.
    pub(super) fn sandboxing(&self) -> Sandboxing {
        let home = std::env::home_dir();
        let mut own = vec![
            self.dirs.config.clone(),
            self.dirs.data.clone(),
            self.dirs.runtime.clone(),
            self.data_dir.clone(),
            self.runtime_dir.clone(),
            self.socket.clone(),
        ];
        own.sort();
        own.dedup();
        let mut settings = self.settings.sandbox.settings(home.clone());
        let is_directory = |path: &String| match (path.strip_prefix("~/"), &home) {
            (Some(rest), Some(home)) => home.join(rest).is_dir(),
            _ => Path::new(path).is_dir(),
        };
        // A hook may be told of a directory that commands work in.
        let hooks = self.settings.hooks.paths().into_iter();
        let hooks = hooks.filter(|path| !is_directory(path));
        settings.readonly.extend(hooks);
        Sandboxing {
            settings,
            own,
            inherit: self.settings.sandbox.inherit_env.clone(),
        }
    }

    /// Whether launches get cgroups.
    pub(super) fn uses_cgroups(&self) -> bool {
        self.settings.keeper.cgroup == CgroupUse::Auto
    }
}

/// The runtime directory, or a folder in it for another journal than the usual:
/// what a keeper holds belongs to one journal.
fn runtime_dir(dirs: &Dirs, data_dir: &Path) -> PathBuf {
    if data_dir == dirs.data {
        return dirs.runtime.clone();
    }
    dirs.runtime.join(format!("{:08x}", fingerprint(data_dir)))
}

/// FNV-1a, which stays the same from one build to the next.
fn fingerprint(path: &Path) -> u32 {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::new(
            Kind::Failed,
            format!("{} is not a path: {error}", path.display()),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::runtime_dir;
    use crate::dirs::Dirs;
    use std::path::Path;

    #[test]
    fn each_journal_has_a_keeper_of_its_own() {
        let dirs = Dirs {
            config: "/c".into(),
            data: "/d".into(),
            runtime: "/r".into(),
        };
        assert_eq!(runtime_dir(&dirs, Path::new("/d")), Path::new("/r"));
        let other = runtime_dir(&dirs, Path::new("/e"));
        assert_eq!(other.parent(), Some(Path::new("/r")));
        assert_ne!(other, runtime_dir(&dirs, Path::new("/f")));
    }
}

//! What was made in workspaces so that masks have something to stand on, and how
//! many living walls need each. One that goes too early takes its masks along.

use glass_sandbox::Placeholder;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// All of them, of all sessions.
#[derive(Default)]
pub(crate) struct Stands(Mutex<HashMap<PathBuf, Stand>>);

struct Stand {
    placeholder: Placeholder,
    users: usize,
}

impl Stands {
    /// Plans walls and notes what they stand on, before anybody else can take
    /// that away.
    pub(crate) fn plan<T, E>(
        &self,
        plan: impl FnOnce() -> Result<T, E>,
        placeholders: impl FnOnce(&T) -> &[Placeholder],
    ) -> Result<T, E> {
        let mut stands = self.lock();
        let planned = plan()?;
        for placeholder in placeholders(&planned) {
            let stand = stands.entry(placeholder.path.clone());
            let stand = stand.or_insert_with(|| Stand {
                placeholder: placeholder.clone(),
                users: 0,
            });
            stand.users += 1;
        }
        Ok(planned)
    }

    /// Walls that stood on these are gone.
    pub(crate) fn release(&self, placeholders: &[Placeholder]) {
        let mut stands = self.lock();
        for placeholder in placeholders {
            let Some(stand) = stands.get_mut(&placeholder.path) else {
                continue;
            };
            stand.users -= 1;
            if stand.users == 0 {
                stand.placeholder.remove();
                stands.remove(&placeholder.path);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Stand>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

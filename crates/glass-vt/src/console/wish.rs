//! How one viewer wants a console to look.

use super::{Manner, TEMPLATE_DEFAULT};

/// What a viewer wants otherwise than it is configured. It changes what is shown to
/// that viewer, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wish {
    /// Whether something stands before the line.
    pub prompt: Option<bool>,
    /// What that is.
    pub template: Option<String>,
    /// Whether a command that runs is shown in dim.
    pub dims_commands: Option<bool>,
    /// Whether a code other than 0 is shown.
    pub shows_exit: Option<bool>,
}

impl Manner {
    /// This manner, but as somebody wants it.
    pub fn wished(self, wish: Wish) -> Manner {
        let has_prompt = wish.prompt.unwrap_or(self.template.is_some());
        let template = wish.template.or(self.template);
        Manner {
            template: has_prompt.then(|| template.unwrap_or_else(|| TEMPLATE_DEFAULT.to_owned())),
            dims_commands: wish.dims_commands.unwrap_or(self.dims_commands),
            shows_exit: wish.shows_exit.unwrap_or(self.shows_exit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Manner, TEMPLATE_DEFAULT, Wish};

    #[test]
    fn what_is_not_wished_is_as_configured() {
        let configured = Manner {
            template: Some("> ".to_owned()),
            dims_commands: false,
            shows_exit: true,
        };
        assert_eq!(configured.clone().wished(Wish::default()), configured);
        let wish = Wish {
            template: Some("# ".to_owned()),
            dims_commands: Some(true),
            shows_exit: Some(false),
            ..Wish::default()
        };
        let wished = Manner {
            template: Some("# ".to_owned()),
            dims_commands: true,
            shows_exit: false,
        };
        assert_eq!(configured.wished(wish), wished);
    }

    #[test]
    fn a_prompt_can_be_wished_away_and_back() {
        let check = |configured: Option<&str>, prompt, template: Option<&str>| {
            let configured = Manner {
                template: configured.map(str::to_owned),
                ..Manner::default()
            };
            let wish = Wish {
                prompt,
                template: template.map(str::to_owned),
                ..Wish::default()
            };
            configured.wished(wish).template
        };
        assert_eq!(check(Some("> "), Some(false), Some("# ")), None);
        assert_eq!(check(None, None, Some("# ")), None);
        assert_eq!(check(None, Some(true), Some("# ")).as_deref(), Some("# "));
        assert_eq!(
            check(None, Some(true), None).as_deref(),
            Some(TEMPLATE_DEFAULT)
        );
    }
}

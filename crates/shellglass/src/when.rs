//! Moments as people write them: `2h` ago, or a date.

/// Milliseconds in a second.
const SECOND_MS: i64 = 1000;
const MINUTE_MS: i64 = 60 * SECOND_MS;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What is expected, for people.
const EXPECTED: &str = "expected a time ago such as 90s, 30m, 2h, 3d or 1w, or a date such as 2026-11-15 or \
     2026-11-15T09:30:00Z";

/// A moment that was written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// So many milliseconds before now.
    Ago(i64),
    /// In milliseconds since 1970.
    At(i64),
}

impl When {
    /// In milliseconds since 1970, if it is `now_ms` now. Never 0, which on the
    /// wire is no moment at all.
    pub(crate) fn unix_ms(self, now_ms: i64) -> i64 {
        match self {
            When::Ago(ms) => now_ms.saturating_sub(ms).max(1),
            When::At(ms) => ms.max(1),
        }
    }

    /// Reads a moment. Dates are as in RFC 3339, those without a time begin at
    /// midnight UTC.
    pub(crate) fn parse(text: &str) -> Result<When, String> {
        ago(text)
            .map(When::Ago)
            .or_else(|| date(text).map(When::At))
            .ok_or_else(|| EXPECTED.to_owned())
    }
}

fn ago(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let count = text.strip_suffix(unit)?;
    let unit_ms = match unit {
        's' => SECOND_MS,
        'm' => MINUTE_MS,
        'h' => HOUR_MS,
        'd' => DAY_MS,
        'w' => 7 * DAY_MS,
        _ => return None,
    };
    digits(count)?.checked_mul(unit_ms)
}

fn date(text: &str) -> Option<i64> {
    let (day, time) = match text.split_once(['T', 't', ' ']) {
        Some((day, time)) => (day, Some(time)),
        None => (text, None),
    };
    let mut parts = day.split('-');
    let (year, month, day) = (
        fixed(parts.next()?, 4)?,
        fixed(parts.next()?, 2)?,
        fixed(parts.next()?, 2)?,
    );
    if parts.next().is_some() || !(1..=12).contains(&month) {
        return None;
    }
    if !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let midnight = days_since_1970(year, month, day) * DAY_MS;
    match time {
        None => Some(midnight),
        Some(time) => Some(midnight + time_of_day(time)?),
    }
}

/// `09:30:00`, a fraction of any length, and `Z` or an offset from UTC.
fn time_of_day(text: &str) -> Option<i64> {
    let zone = text.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = text.split_at_checked(zone)?;
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.split(':');
    let (hour, minute, second) = (
        fixed(parts.next()?, 2)?,
        fixed(parts.next()?, 2)?,
        fixed(parts.next()?, 2)?,
    );
    // A leap second is the last one of its minute.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let ms = digits(format!("{fraction:0<3}").get(..3)?)?;
    let offset = match zone {
        "Z" | "z" => 0,
        zone => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = zone[1..].split_once(':')?;
            let (hours, minutes) = (fixed(hours, 2)?, fixed(minutes, 2)?);
            if hours > 23 || minutes > 59 {
                return None;
            }
            sign * (hours * HOUR_MS + minutes * MINUTE_MS)
        }
    };
    Some(hour * HOUR_MS + minute * MINUTE_MS + second.min(59) * SECOND_MS + ms - offset)
}

fn fixed(text: &str, count: usize) -> Option<i64> {
    (text.len() == count).then(|| digits(text)).flatten()
}

/// A number without a sign.
fn digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Years are counted from March, so that the leap day is the last of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const DAYS_TO_1970: i64 = 719_468;
    let year = if month <= 2 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use super::When;

    #[test]
    fn a_time_ago_is_counted_from_now() {
        for (text, ms) in [
            ("90s", 90_000),
            ("30m", 1_800_000),
            ("2h", 7_200_000),
            ("3d", 259_200_000),
            ("1w", 604_800_000),
        ] {
            assert_eq!(When::parse(text), Ok(When::Ago(ms)), "{text}");
        }
        assert_eq!(When::Ago(1000).unix_ms(5000), 4000);
        assert_eq!(When::Ago(i64::MAX).unix_ms(5000), 1);
    }

    #[test]
    fn a_date_is_that_of_rfc_3339() {
        for (text, ms) in [
            ("1970-01-01", 0),
            ("2000-02-29", 951_782_400_000),
            ("2026-11-15T09:30:00Z", 1_794_735_000_000),
            ("2026-11-15 09:30:00Z", 1_794_735_000_000),
            ("2026-11-15T10:30:00.1239+01:00", 1_794_735_000_123),
            ("2026-11-15T04:00:00.5-05:30", 1_794_735_000_500),
        ] {
            assert_eq!(When::parse(text), Ok(When::At(ms)), "{text}");
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "h",
            "-2h",
            "2",
            "2y",
            "2é",
            "é",
            "yesterday",
            "2026-11",
            "2026-13-01",
            "2025-02-29",
            "1900-02-29",
            "2026-11-15T",
            "2026-11-15T09:30Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T09:30:00",
            "2026-11-15T09:30:00.Z",
            "2026-11-15T09:30:00+1:00",
            "2026-11-15T09:30:00+é:00",
            "99999999999999999999h",
            "9223372036854775807d",
        ] {
            assert!(When::parse(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,40}", odd in "[0-9TtzZ:. +hé-]{0,40}") {
            let _ = When::parse(&text);
            let _ = When::parse(&odd);
        }

        #[test]
        fn a_moment_that_is_shown_is_read_again(seconds in -60_000_000_000i64..250_000_000_000) {
            let text = crate::commands::time(seconds * 1000);
            proptest::prop_assert_eq!(When::parse(&text), Ok(When::At(seconds * 1000)));
        }
    }
}

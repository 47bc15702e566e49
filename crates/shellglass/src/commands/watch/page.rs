//! The overview as a page of cells.

use super::board::Board;
use super::words;
use crate::commands::approvals;
use glass_policy::text::visible;
use glass_proto::shellglass::v1::WatchedSession;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Row, Table, TableState};

const HELP: &str =
    "q quit  ↑↓ select  Enter open  w and type  c cancel  a approve  r refuse  Tab next";

/// Rows of the page that the question may take, in tenths.
const QUESTION_TENTHS_MAX: u16 = 6;

/// On fewer columns than these a branch has to be short.
const NARROW_COLUMNS: u16 = 110;

/// On fewer columns than these nobody can read a question.
const COLUMNS_MIN: usize = 16;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, board: &mut Board, now_ms: i64) {
    let question = board.question().map(|asked| {
        let title = format!(
            " {} in {}: {} waiting ",
            visible(&asked.approval_id),
            visible(&asked.session_id),
            board.overview.approvals.len()
        );
        (title, approvals::question(asked))
    });
    let area = frame.area();
    let wanted = question.as_ref().map_or(0, |(_, text)| {
        let columns = usize::from(area.width.saturating_sub(2));
        let lines = text
            .lines()
            .map(|line| fold(line, columns).len())
            .sum::<usize>();
        let lines = u16::try_from(lines).unwrap_or(u16::MAX);
        let most = area.height / 10 * QUESTION_TENTHS_MAX + area.height % 10 / 2;
        lines.saturating_add(2).min(most)
    });
    let [head, body, asked, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(wanted),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(figures(board)), head);
    draw_sessions(frame, body, board, now_ms);
    if let Some((title, text)) = question {
        draw_question(frame, asked, board, title, &text);
    }
    let said = match (board.is_lost, board.said.as_str()) {
        (true, _) => "the daemon is gone; it is looked for",
        (false, "") => HELP,
        (false, said) => said,
    };
    let style = Style::new().add_modifier(Modifier::REVERSED);
    frame.render_widget(Paragraph::new(said.to_owned()).style(style), foot);
}

/// Figures like those of `top`.
fn figures(board: &Board) -> Line<'static> {
    let running = board.rows().filter(|row| {
        let session = row.session.as_ref();
        session.is_some_and(|session| session.running)
    });
    let rates = board.rates();
    let waiting = board.overview.approvals.len();
    let sessions = format!(
        "{} sessions, {} running, ",
        board.rows().count(),
        running.count()
    );
    let done = format!(
        "  {:.1} commands/s  {}/s  in all {} and {}",
        rates.commands,
        words::bytes(rates.bytes),
        board.overview.commands_total,
        words::bytes(total(board.overview.output_bytes_total)),
    );
    let style = match waiting {
        0 => Style::new(),
        _ => Style::new().fg(Color::Yellow).add_modifier(Modifier::BOLD),
    };
    Line::from(vec![
        Span::raw(sessions),
        Span::styled(format!("{waiting} approvals waiting"), style),
        Span::raw(done),
    ])
}

#[allow(clippy::cast_precision_loss, reason = "a figure is for people")]
fn total(bytes: u64) -> f64 {
    bytes as f64
}

fn draw_sessions(frame: &mut Frame<'_>, area: Rect, board: &Board, now_ms: i64) {
    let head = [
        "session",
        "mode",
        "",
        "time",
        "branch",
        "directory",
        "command",
        "inside",
    ];
    let head = Row::new(head).style(Style::new().add_modifier(Modifier::BOLD | Modifier::DIM));
    let rows = board.rows().map(|row| {
        let id = row.session.as_ref().map(|session| &session.session_id);
        let mut waiting = board.overview.approvals.iter();
        let asks = waiting.any(|approval| Some(&approval.session_id) == id);
        let style = match asks {
            true => Style::new().fg(Color::Yellow),
            false => Style::new(),
        };
        Row::new(cells(row, asks, now_ms)).style(style)
    });
    let widths = [
        Constraint::Max(20),
        Constraint::Length(4),
        Constraint::Length(5),
        Constraint::Length(7),
        Constraint::Max(if area.width < NARROW_COLUMNS { 8 } else { 16 }),
        Constraint::Fill(2),
        Constraint::Fill(3),
        Constraint::Fill(2),
    ];
    let table = Table::new(rows, widths)
        .header(head)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::default().with_selected(board.position());
    frame.render_stateful_widget(table, area, &mut state);
}

/// What is said of a session.
pub(super) fn cells(row: &WatchedSession, asks: bool, now_ms: i64) -> [String; 8] {
    let Some(session) = &row.session else {
        return Default::default();
    };
    let time = match row.running_since_unix_ms {
        0 => String::new(),
        since => words::duration(now_ms - since),
    };
    let inside = [words::inside(session), words::quiet(session)];
    let inside: Vec<String> = inside.into_iter().filter(|text| !text.is_empty()).collect();
    [
        words::name(session),
        words::mode(session).to_owned(),
        words::state(row, session, asks).to_owned(),
        time,
        visible(&session.git_branch),
        visible(&session.working_directory),
        words::command(session),
        inside.join(": "),
    ]
}

fn draw_question(frame: &mut Frame<'_>, area: Rect, board: &mut Board, title: String, text: &str) {
    let height = usize::from(area.height.saturating_sub(2));
    let columns = usize::from(area.width.saturating_sub(2));
    let lines: Vec<Line<'_>> = text.lines().flat_map(|line| fold(line, columns)).collect();
    let last = lines.len().saturating_sub(height);
    board.scroll = board.scroll.min(last);
    let is_whole = columns >= COLUMNS_MIN && height > 0;
    let below = match is_whole {
        true => last - board.scroll,
        false => lines.len(),
    };
    board.drew(below);
    let title = match (is_whole, below) {
        (true, 0) => title,
        (true, below) => format!("{title}: {below} more lines, Page Down "),
        (false, _) => format!("{title}: this terminal is too small to show it "),
    };
    let block = Block::new()
        .borders(Borders::ALL)
        .border_style(Style::new().fg(Color::Yellow))
        .title(title);
    let skip = board.scroll;
    let shown: Vec<Line<'_>> = lines.into_iter().skip(skip).take(height).collect();
    frame.render_widget(Paragraph::new(shown).block(block), area);
}

/// A line as several, so that nothing of it is beyond the edge. Many characters
/// beyond ASCII take two columns.
fn fold(line: &str, columns: usize) -> Vec<Line<'static>> {
    let (mut folded, mut part, mut width) = (Vec::new(), String::new(), 0);
    for one in line.chars() {
        let wide = if one.is_ascii() { 1 } else { 2 };
        if width + wide > columns.max(2) {
            folded.push(Line::from(std::mem::take(&mut part)));
            width = 0;
        }
        part.push(one);
        width += wide;
    }
    folded.push(Line::from(part));
    folded
}

#[cfg(test)]
mod tests {
    use super::draw;
    use crate::commands::watch::board::{Act, Board};
    use crate::commands::watch::keys::Key;
    use glass_proto::shellglass::v1::{Approval, Overview, Session, WatchedSession};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use std::time::Instant;

    fn shown(board: &mut Board, columns: u16, rows: u16) -> String {
        let mut terminal =
            Terminal::new(TestBackend::new(columns, rows)).expect("a page in memory");
        terminal
            .draw(|frame| draw(frame, board, 65_000))
            .expect("a page in memory takes everything");
        terminal.backend().to_string()
    }

    fn board(command: &str) -> Board {
        let session = Session {
            session_id: "s-1".to_owned(),
            running: true,
            active_command: "make \u{1b}[2J\u{202e}all".to_owned(),
            git_branch: "trunk".to_owned(),
            quiet_reason: "cpu".to_owned(),
            ..Session::default()
        };
        let mut board = Board::default();
        let overview = Overview {
            sessions: vec![WatchedSession {
                session: Some(session),
                running_since_unix_ms: 2_000,
                ..WatchedSession::default()
            }],
            approvals: vec![Approval {
                approval_id: "ask-1".to_owned(),
                session_id: "s-1".to_owned(),
                command: command.to_owned(),
                ..Approval::default()
            }],
            ..Overview::default()
        };
        board.take(overview, Instant::now());
        board
    }

    #[test]
    fn a_session_and_a_question_are_shown_as_they_are() {
        let page = shown(&mut board("rm -rf \u{202e}x"), 140, 24);
        for part in [
            "1 sessions, 1 running",
            "1 approvals waiting",
            "trunk",
            "1:03",
            "make <U+001B>[2J<U+202E>all",
            "computes",
            "rm -rf <U+202E>x",
        ] {
            assert!(page.contains(part), "no {part} in\n{page}");
        }
    }

    #[test]
    fn what_is_not_seen_to_its_end_is_not_approved() {
        let long = "true\n".repeat(50) + "rm -rf /";
        let mut board = board(&long);
        let page = shown(&mut board, 100, 24);
        assert!(
            page.contains("more lines") && !page.contains("rm -rf"),
            "{page}"
        );
        board.press(Key::Char('a'));
        assert_eq!(board.press(Key::Char('y')), None);
        for _ in 0..100 {
            board.press(Key::PageDown);
            shown(&mut board, 100, 24);
        }
        board.press(Key::Char('a'));
        assert!(matches!(
            board.press(Key::Char('y')),
            Some(Act::Answer { .. })
        ));
    }

    #[test]
    fn a_page_without_room_shows_what_it_can() {
        for (columns, rows) in [(1, 1), (20, 3), (60, 5), (300, 2)] {
            let mut board = board("rm -rf /");
            shown(&mut board, columns, rows);
            board.press(Key::Char('a'));
            assert_eq!(board.press(Key::Char('y')), None, "{columns}x{rows}");
        }
    }
}

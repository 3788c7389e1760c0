//! A list of tasks to tick: keys in, another list out.
//!
//! Knows neither terminals nor plans; what is needed is ticked along.

use crate::keys::Key;

#[derive(Debug, Clone)]
pub(crate) struct Choice {
    pub(crate) id: String,
    pub(crate) title: String,
    /// The heading it stands under, if any.
    pub(crate) group: Option<String>,
    /// The places of the choices that it needs, each before it was done.
    pub(crate) needs: Vec<usize>,
    /// Why it waits and for whom.
    pub(crate) remark: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Picked {
    /// The places of what was ticked.
    These(Vec<usize>),
    Nothing,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

#[derive(Debug)]
pub(crate) struct List {
    pub(super) choices: Vec<Choice>,
    pub(super) ticked: Vec<bool>,
    /// The places that pass the filter.
    pub(super) shown: Vec<usize>,
    /// Which of them the keys are about.
    pub(super) cursor: usize,
    pub(super) filter: String,
    pub(super) is_filtering: bool,
    /// What the last key did besides.
    pub(super) note: Option<String>,
}

impl List {
    pub(crate) fn new(choices: Vec<Choice>) -> Self {
        Self {
            ticked: vec![false; choices.len()],
            shown: (0..choices.len()).collect(),
            cursor: 0,
            filter: String::new(),
            is_filtering: false,
            note: None,
            choices,
        }
    }

    pub(crate) fn ticked(&self) -> usize {
        self.ticked.iter().filter(|ticked| **ticked).count()
    }

    /// Does what a key says, with pages of so many lines.
    pub(crate) fn press(&mut self, key: Key, page: usize) -> Option<Picked> {
        self.note = None;
        match key {
            Key::Interrupt => return Some(Picked::Interrupted),
            Key::Up => self.step(|at, _| at.saturating_sub(1)),
            Key::Down => self.step(|at, last| (at + 1).min(last)),
            Key::PageUp => self.step(|at, _| at.saturating_sub(page)),
            Key::PageDown => self.step(|at, last| (at + page).min(last)),
            Key::Home => self.step(|_, _| 0),
            Key::End => self.step(|_, last| last),
            key if self.is_filtering => self.type_in(key),
            key => return self.command(key),
        }
        None
    }

    fn command(&mut self, key: Key) -> Option<Picked> {
        match key {
            Key::Character(' ') => {
                if let Some(place) = self.shown.get(self.cursor).copied() {
                    self.toggle(place);
                    self.step(|at, last| (at + 1).min(last));
                }
            }
            Key::Character('a') => self.toggle_all(),
            Key::Character('k') => self.step(|at, _| at.saturating_sub(1)),
            Key::Character('j') => self.step(|at, last| (at + 1).min(last)),
            Key::Character('g') => self.step(|_, _| 0),
            Key::Character('G') => self.step(|_, last| last),
            Key::Character('/') => self.is_filtering = true,
            Key::Escape if !self.filter.is_empty() => self.set_filter(String::new()),
            Key::Escape | Key::Character('q') => return Some(Picked::Nothing),
            Key::Enter => return self.picked(),
            _ => {}
        }
        None
    }

    fn picked(&mut self) -> Option<Picked> {
        let places = (0..self.choices.len()).filter(|place| self.ticked[*place]);
        let places: Vec<usize> = places.collect();
        if places.is_empty() {
            self.note =
                Some("nothing selected: press space to select a task, a for all".to_owned());
            return None;
        }
        Some(Picked::These(places))
    }

    /// What is typed while a filter is written.
    fn type_in(&mut self, key: Key) {
        let mut filter = self.filter.clone();
        match key {
            Key::Character(c) => filter.push(c),
            Key::Backspace if filter.is_empty() => self.is_filtering = false,
            Key::Backspace => drop(filter.pop()),
            Key::Empty => filter.clear(),
            Key::Enter => self.is_filtering = false,
            Key::Escape => {
                self.is_filtering = false;
                filter.clear();
            }
            _ => {}
        }
        if filter != self.filter {
            self.set_filter(filter);
        }
    }

    /// Shows what has every word of the filter in it; the cursor stays with its task where it can.
    fn set_filter(&mut self, filter: String) {
        let at = self.shown.get(self.cursor).copied();
        self.filter = filter;
        let wanted = self.filter.to_lowercase();
        let words: Vec<&str> = wanted.split_whitespace().collect();
        let has_all = |choice: &Choice| {
            let group = choice.group.as_deref().unwrap_or_default();
            let text = format!("{} {} {group}", choice.id, choice.title).to_lowercase();
            words.iter().all(|word| text.contains(word))
        };
        let places = 0..self.choices.len();
        self.shown = places
            .filter(|place| has_all(&self.choices[*place]))
            .collect();
        let same = at.and_then(|at| self.shown.binary_search(&at).ok());
        self.cursor = same.unwrap_or(0);
    }

    fn step(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let last = self.shown.len().saturating_sub(1);
        self.cursor = to(self.cursor, last);
    }

    fn toggle(&mut self, place: usize) {
        let along = if self.ticked[place] {
            self.untick(&[place])
        } else {
            self.tick(&[place])
        };
        if !along.is_empty() {
            let ids: Vec<&str> = along
                .iter()
                .map(|at| self.choices[*at].id.as_str())
                .collect();
            let ids = match &ids[..] {
                [few @ .., _] if ids.len() > 5 => {
                    format!("{} and {} more", few[..4].join(", "), ids.len() - 4)
                }
                all => all.join(", "),
            };
            let id = &self.choices[place].id;
            self.note = Some(if self.ticked[place] {
                format!("{id} needs {ids}: also selected")
            } else {
                format!("{ids} cannot run without {id}: deselected")
            });
        }
    }

    fn toggle_all(&mut self) {
        let shown = self.shown.clone();
        if shown.iter().all(|place| self.ticked[*place]) {
            self.untick(&shown);
        } else {
            self.tick(&shown);
        }
    }

    /// Ticks what is meant and whatever that needs, and says what came along.
    fn tick(&mut self, meant: &[usize]) -> Vec<usize> {
        let mut stack = meant.to_vec();
        let mut along = Vec::new();
        while let Some(place) = stack.pop() {
            if std::mem::replace(&mut self.ticked[place], true) {
                continue;
            }
            if !meant.contains(&place) {
                along.push(place);
            }
            stack.extend(&self.choices[place].needs);
        }
        along.sort_unstable();
        along
    }

    /// Unticks what is meant and whatever needs that, and says what went along.
    fn untick(&mut self, meant: &[usize]) -> Vec<usize> {
        let mut along = Vec::new();
        for place in meant {
            self.ticked[*place] = false;
        }
        loop {
            let lacks = |place: &usize| {
                let needs = &self.choices[*place].needs;
                self.ticked[*place] && needs.iter().any(|need| !self.ticked[*need])
            };
            let lacking: Vec<usize> = (0..self.choices.len()).filter(lacks).collect();
            if lacking.is_empty() {
                along.sort_unstable();
                return along;
            }
            for place in lacking {
                self.ticked[place] = false;
                along.push(place);
            }
        }
    }
}

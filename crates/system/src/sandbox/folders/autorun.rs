//! Finds what of a home folder runs without anybody asking, and what steers agents there.

use std::fs;
use std::path::{Path, PathBuf};

use super::{CACHE, User};
use crate::sandbox::agent_settings::AgentFolders;
use crate::sandbox::places::{
    GIT_SETTINGS, OPEN_BY_NAME, RUN_FROM_CACHES, START_FILES, folders_of_tools, steering_folders,
};
use crate::sandbox::start_files::{RUN_FROM, StartFiles};

/// Nobody has more programs in a folder, or settings that are links.
const MOST_PROGRAMS: usize = 4096;

/// What makes a folder above programs a Python environment, all of which these load.
const ENVIRONMENT: &str = "pyvenv.cfg";

impl User<'_> {
    /// Programs on the `PATH`, and what files of shells name.
    pub(super) fn runs_by_itself(&self) -> &[PathBuf] {
        self.runs_by_itself.get_or_init(|| self.find_what_runs())
    }

    fn find_what_runs(&self) -> Vec<PathBuf> {
        let Some(home) = &self.home else {
            return Vec::new();
        };
        let (mut found, mentioned) = self.named_by_settings(home);
        let real: Vec<PathBuf> = found.iter().flat_map(|path| path.canonicalize()).collect();
        for folder in real.iter().filter(|folder| folder.starts_with(home)) {
            found.extend(linked_programs(folder, home));
            let above = folder.parent();
            found.extend(
                above
                    .filter(|above| above.join(ENVIRONMENT).is_file())
                    .map(Path::to_owned),
            );
        }
        found.extend(real);
        found.extend(self.linked_settings(home));
        // Somebody's variable may name the home folder itself, or all caches.
        let tools: Vec<PathBuf> = self.places_that_tools_need().collect();
        let holds_tools = |path: &PathBuf| {
            let mut tools = tools.iter();
            tools.any(|tool| tool != path && tool.starts_with(path))
        };
        found.retain(|path| !home.starts_with(path) && !holds_tools(path));
        let shared = self.shared();
        let is_needed = |path: &PathBuf| {
            let is_near = |tool: &PathBuf| tool.starts_with(path) || path.starts_with(tool);
            tools.iter().any(is_near) || shared.iter().any(is_near)
        };
        found.extend(mentioned.into_iter().filter(|path| !is_needed(path)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What variables and files of settings name: what is run, and what is only mentioned.
    fn named_by_settings(&self, home: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let all = || self.env.iter().chain(&self.own_env);
        let mut found = Vec::new();
        for (_, path) in all().filter(|(name, _)| RUN_FROM.iter().any(|known| name == *known)) {
            found.extend(std::env::split_paths(path).filter(|folder| folder.is_absolute()));
        }
        let variables = all().filter_map(|(name, value)| {
            Some((name.to_str()?.to_owned(), value.to_str()?.to_owned()))
        });
        let mut files = StartFiles::new(home, variables);
        for file in self.inside(START_FILES) {
            files.read(&file);
        }
        files.read_moved(START_FILES);
        for file in self.inside(GIT_SETTINGS) {
            files.read_settings(&file);
        }
        let (run, mentioned) = files.found();
        found.extend(run);
        (found, mentioned)
    }

    /// Where files of settings are that are links into another folder, with the repository that they come from.
    fn linked_settings(&self, home: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for above in [home.to_owned(), home.join(".config")] {
            let entries = fs::read_dir(&above).into_iter().flatten().flatten();
            for entry in entries.take(MOST_PROGRAMS) {
                let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
                let target = entry.path().canonicalize();
                let target = target.ok().filter(|target| is_link && target.is_file());
                found.extend(target);
            }
        }
        let started = self.inside(START_FILES).into_iter();
        found.extend(started.filter_map(|file| file.canonicalize().ok()));
        found.retain(|path| path.starts_with(home));
        let repositories = found.iter().filter_map(|file| {
            let above = file.ancestors().take_while(|above| *above != home);
            let mut above = above.filter(|above| above.join(".git").exists());
            above.next().map(Path::to_owned)
        });
        let repositories: Vec<PathBuf> = repositories.collect();
        found.extend(repositories);
        found
    }

    fn places_that_tools_need(&self) -> impl Iterator<Item = PathBuf> {
        let all = folders_of_tools().chain(OPEN_BY_NAME.iter().copied());
        all.filter_map(|place| self.place(place))
    }

    /// What runs by itself or steers agents, and can be written to all the same: folders, each with places in it.
    pub(in crate::sandbox) fn watched(&self) -> AgentFolders {
        let mut watched = AgentFolders::new();
        let caches = (CACHE, RUN_FROM_CACHES, &[] as &[&str]);
        let agents = steering_folders().map(|agent| (agent.folder, agent.entries, agent.own));
        for (folder, places, own) in agents.chain([caches]) {
            let folders = self.inside(&[folder]).into_iter();
            for folder in folders.flat_map(|folder| folder.canonicalize()) {
                let steering = watched.entry(folder).or_default();
                steering.places.extend(places.iter().map(PathBuf::from));
                steering.own.extend(own.iter().map(PathBuf::from));
            }
        }
        let shared = self.shared();
        for path in self.runs_by_itself() {
            for folder in shared.iter().flat_map(|folder| folder.canonicalize()) {
                if let Ok(inside) = path.strip_prefix(&folder) {
                    let steering = watched.entry(folder).or_default();
                    steering.places.insert(inside.to_owned());
                }
            }
        }
        watched
    }
}

/// Where the programs are that links in a folder lead to, within the home folder.
fn linked_programs(folder: &Path, home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let links = entries.take(MOST_PROGRAMS).filter(|entry| {
        let kind = entry.file_type();
        kind.is_ok_and(|kind| kind.is_symlink())
    });
    let targets = links.flat_map(|link| link.path().canonicalize());
    let mut found: Vec<PathBuf> = targets
        .filter(|target| target.starts_with(home))
        .map(|target| program_folder(&target).to_owned())
        .collect();
    found.dedup();
    found
}

/// The folder of a program with what it loads.
fn program_folder(program: &Path) -> &Path {
    let is = |path: &Path, name: &str| path.file_name().is_some_and(|known| known == name);
    let modules = program
        .ancestors()
        .filter(|above| is(above, "node_modules"));
    if let Some(modules) = modules.last() {
        return modules;
    }
    let folder = program.parent().unwrap_or(program);
    match folder.parent() {
        Some(above) if is(folder, "bin") || is(folder, "sbin") => above,
        _ => folder,
    }
}

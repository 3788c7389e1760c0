//! What of agents' own folders steers them in every later session: settings, hooks, plugins, commands, memory.
//!
//! All paths are meant from the home folder. The agents that are known by name bring theirs along.

use pleach_driver::{KNOWN_AGENTS, SteeringFolder};

/// The folders of all agents, which they write to as they like.
pub(in crate::sandbox) fn steering_folders() -> impl Iterator<Item = &'static SteeringFolder> {
    let known = KNOWN_AGENTS.iter().flat_map(|agent| agent.home.steering);
    known.chain(OTHERS)
}

const fn steering(folder: &'static str, entries: &'static [&'static str]) -> SteeringFolder {
    SteeringFolder {
        folder,
        entries,
        own: &[],
    }
}

/// Those of agents that run as commands of the user.
const OTHERS: &[SteeringFolder] = &[
    steering(
        ".cursor",
        &[
            "agents",
            "cli-config.json",
            "commands",
            "hooks",
            "hooks.json",
            "mcp.json",
            "rules",
            "skills",
        ],
    ),
    steering(
        ".factory",
        &[
            "AGENTS.md",
            "commands",
            "droids",
            "hooks",
            "hooks.json",
            "mcp.json",
            "plugins",
            "settings.json",
            "skills",
        ],
    ),
    steering(
        ".continue",
        &[
            "assistants",
            "config.json",
            "config.ts",
            "config.yaml",
            "mcpServers",
            "permissions.yaml",
            "prompts",
            "rules",
        ],
    ),
    steering(
        ".config/amp",
        &["AGENTS.md", "commands", "settings.json", "skills"],
    ),
    steering(".config/crush", &["crush.json", "skills"]),
    steering(".local/share/crush", &["crush.json"]),
];

// Leaves out of the build the grammars and themes of the highlighter that nobody needs.

import { readdirSync } from "node:fs";
import type { Plugin } from "vite";

/** The languages that are coloured; others are shown plain. */
const kept = new Set(
  `bash c cpp csharp css csv dart diff docker dockerfile elixir erlang fish go graphql haskell html ini java javascript js json json5 jsonc jsx
  kotlin lua make makefile markdown md mdx nix objective-c ocaml perl php powershell proto protobuf python py r ruby rb rust rs scala scss sass
  shellscript sh sql svelte swift terraform hcl toml tsx typescript ts vue xml yaml yml zig zsh`.split(/\s+/),
);

const bare = /^@shikijs\/(langs|themes)\/([\w.+-]+)$/;
const leftOut = { langs: "\0left-out-grammars", themes: "\0left-out-themes" };

/** One grammar without rules that answers to every name that was left out. */
function plainGrammar() {
  const folder = new URL("../node_modules/@shikijs/langs/dist/", import.meta.url);
  const names = readdirSync(folder).filter((file) => file.endsWith(".mjs")).map((file) => file.slice(0, -4));
  const aliases = names.filter((name) => !kept.has(name)).sort();
  return [{ name: "left-out", scopeName: "source.left-out", patterns: [], repository: {}, aliases }];
}

export function fewerGrammars(): Plugin {
  return {
    name: "fewer-grammars",
    enforce: "pre",
    resolveId(source) {
      const [, kind, name] = bare.exec(source) ?? [];
      if (!name || (kind === "langs" && kept.has(name))) return undefined;
      return leftOut[kind as keyof typeof leftOut];
    },
    load(id) {
      if (id === leftOut.langs) return `export default ${JSON.stringify(plainGrammar())};`;
      if (id === leftOut.themes) return `export default ${JSON.stringify({ name: "left-out", type: "dark", colors: {}, settings: [] })};`;
      return undefined;
    },
  };
}

// Leaves out of the build what nobody needs of the highlighter: most grammars, its themes, its other engines.

import { readdirSync } from "node:fs";
import type { Plugin } from "vite";

/** The languages that are coloured; others are shown plain. */
const kept = new Set(
  `bash c cpp csharp css csv dart diff docker dockerfile elixir erlang fish go graphql haskell html ini java javascript js json json5 jsonc jsx
  kotlin lua make makefile markdown md mdx nix objective-c ocaml perl php powershell proto protobuf python py r ruby rb rust rs scala scss sass
  shellscript sh sql svelte swift terraform hcl toml tsx typescript ts vue xml yaml yml zig zsh`.split(/\s+/),
);

/** Modules that are loaded only with options that the board does not use, and what stands in for them. */
const unused: [RegExp, string][] = [
  [/^(\.\/backends\/highlights\.js|\.\/highlights-\w+\.js)$/, "export class HighlightsHighlighter {}"],
  [/^@pierre\/highlights\/themes\/loader$/, "export const themes = {};"],
  [/^@pierre\/theming\/themes$/, "export const themes = { getTheme: () => undefined };"],
  [/^shiki\/engine\/oniguruma$/, "export const createOnigurumaEngine = undefined;"],
  [/^shiki\/wasm$/, "export default undefined;"],
];

const grammar = /^@shikijs\/langs\/([\w.+-]+)$/;
const PLAIN = "\0plain-grammar";
const UNUSED = "\0unused-";
const NO_GRAMMARS = "\0no-grammars";

/** One grammar without rules that answers to every name that was left out. */
function plainGrammar() {
  const folder = new URL("../node_modules/@shikijs/langs/dist/", import.meta.url);
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(".mjs"))
    .map((file) => file.slice(0, -4));
  const aliases = names.filter((name) => !kept.has(name)).sort();
  return [{ name: "left-out", scopeName: "source.left-out", patterns: [], repository: {}, aliases }];
}

/** For the page, or for the worker that the page gives its grammars to. */
export function fewerGrammars(place: "page" | "worker"): Plugin {
  return {
    name: "fewer-grammars",
    enforce: "pre",
    resolveId(source, importer) {
      if (place === "worker" && source === "shiki/langs") return NO_GRAMMARS;
      const [, language] = grammar.exec(source) ?? [];
      if (language) return kept.has(language) ? undefined : PLAIN;
      if (!importer?.includes("/@pierre/diffs/")) return undefined;
      const at = unused.findIndex(([name]) => name.test(source));
      return at < 0 ? undefined : UNUSED + at;
    },
    load(id) {
      if (id === PLAIN) return `export default ${JSON.stringify(plainGrammar())};`;
      if (id === NO_GRAMMARS) return "export const bundledLanguages = {};";
      return id.startsWith(UNUSED) ? unused[Number(id.slice(UNUSED.length))]?.[1] : undefined;
    },
  };
}

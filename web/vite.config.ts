// How the board is built, tested, and served while it is written.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { fewerGrammars } from "./scripts/grammars.ts";

const server = process.env.PLEACH_SERVER ?? "http://127.0.0.1:3001";

/** The token of a running server, so that the page needs no link while it is worked on. */
function token(): string | undefined {
  const home = process.env.PLEACH_HOME;
  if (!home) return undefined;
  try {
    return readFileSync(`${home}/token`, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** What tells the document of the API that the page is built for from any other. */
function documentHash(): string {
  return createHash("sha256")
    .update(readFileSync(new URL("openapi.json", import.meta.url)))
    .digest("hex");
}

export default defineConfig(() => ({
  // Every text goes through it, so that nothing hidden gets past.
  plugins: [fewerGrammars("page"), react({ jsxImportSource: "@/visible" }), tailwindcss()],
  define: { __DOCUMENT_HASH__: JSON.stringify(documentHash()) },
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  // The program is built with what is there.
  build: { outDir: "dist/board", assetsInlineLimit: 0, target: "es2023", chunkSizeWarningLimit: 900 },
  worker: { format: "es" as const, plugins: () => [fewerGrammars("worker")] },
  server: {
    proxy: {
      "/api": {
        target: server,
        changeOrigin: true,
        configure: (proxy) => {
          // A stream that breaks behind the proxy breaks in front of it too.
          proxy.on("proxyRes", (answer, _request, toPage) => answer.on("close", () => toPage.destroy()));
          proxy.on("proxyReq", (request) => {
            if (request.hasHeader("origin")) request.setHeader("origin", server);
            const known = token();
            if (known) request.setHeader("authorization", `Bearer ${known}`);
          });
        },
      },
    },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}"],
  },
}));

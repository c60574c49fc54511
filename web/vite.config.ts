import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.WARREN_URL ?? "http://127.0.0.1:7777";

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: {
    alias: [
      { find: /^@warren\/react\/core$/, replacement: here("packages/react/src/core/index.ts") },
      { find: /^@warren\/react$/, replacement: here("packages/react/src/index.ts") },
      { find: /^~\//, replacement: here("src/") },
      // Its variant for browsers parses by the browser, which reports each style attribute to the page's policy.
      { find: /^hast-util-from-html-isomorphic$/, replacement: here("node_modules/hast-util-from-html-isomorphic/index.js") },
    ],
    dedupe: ["react", "react-dom"],
  },
  build: {
    target: "es2023",
    manifest: true,
    // A data: address would need a wider policy for fonts and images than the page has.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  // The page's own `Host` goes on: the server compares it with `Origin` before a page may change anything.
  server: {
    proxy: {
      "/api": { target: server, changeOrigin: false },
      "/auth": { target: server, changeOrigin: false },
      "/socket.io": { target: server, changeOrigin: false, ws: true },
    },
  },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}", "packages/*/src/**/*.test.{ts,tsx}", "packages/*/test/**/*.test.ts"],
  },
});

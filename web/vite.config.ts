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
  server: { proxy: { "/api": server, "/auth": server, "/socket.io": { target: server, ws: true } } },
  test: {
    environment: "happy-dom",
    include: ["src/**/*.test.{ts,tsx}", "packages/*/src/**/*.test.{ts,tsx}", "packages/*/test/**/*.test.ts"],
  },
});

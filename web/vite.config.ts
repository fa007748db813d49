import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import solid from "vite-plugin-solid";
import { defineConfig } from "vite";

const root = fileURLToPath(new URL(".", import.meta.url));
const repository = resolve(root, "..");

/** Builds the page into `web/` of the folder that `scripts/prepare.mjs` builds. */
export default defineConfig({
  root,
  logLevel: "warn",
  plugins: [solid()],
  build: {
    outDir: resolve(repository, process.env["ROOKERY_BUILD"] ?? "dist", "web"),
    emptyOutDir: true,
    target: "es2022",
    manifest: true,
    assetsInlineLimit: 0, // the Content-Security-Policy allows no data: URLs
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
});

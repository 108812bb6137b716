import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Smaller files gain less than the headers cost. */
const MIN_COMPRESSED_BYTES = 1024;

/** Writes `.br` and `.gz` next to each text file, so that the server does not compress per request. */
function compressed(): Plugin {
  let folder = "";
  return {
    name: "compressed-copies",
    apply: "build",
    configResolved: (config) => void (folder = path.resolve(config.root, config.build.outDir)),
    closeBundle: () => {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || !/\.(js|css|html|svg)$/.test(entry.name)) continue;
        const file = path.join(entry.parentPath, entry.name);
        const content = readFileSync(file);
        if (content.length < MIN_COMPRESSED_BYTES) continue;
        writeFileSync(`${file}.br`, brotliCompressSync(content));
        writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}

/** `npx vite` in this folder serves the console with hot reload, for a package manager at `OAAS_PM_URL`. */
export default defineConfig({
  plugins: [react(), tailwindcss(), compressed()],
  server: {
    host: "127.0.0.1",
    proxy: { "/api": process.env["OAAS_PM_URL"] ?? "http://127.0.0.1:8080" },
  },
  // The policy forbids data: and inline code.
  build: {
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2024",
  },
});

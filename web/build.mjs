// Builds the page into dist/ and holds it to its size.
import { build } from 'esbuild';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** What a first visit may load, compressed, in bytes. */
const GZIP_BYTES_MAX = 300 * 1024;

const here = new URL('.', import.meta.url);
const at = (path) => new URL(path, here).pathname;

rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'));
await build({
  entryPoints: { app: at('src/main.tsx') },
  outdir: at('dist'),
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  logLevel: 'warning',
});
for (const file of readdirSync(at('static'))) cpSync(at(`static/${file}`), at(`dist/${file}`));

let total = 0;
for (const file of readdirSync(at('dist'))) {
  // Browsers are sent what is compressed here.
  const compressed = gzipSync(readFileSync(at(`dist/${file}`)), { level: 9 });
  writeFileSync(at(`dist/${file}.gz`), compressed);
  if (!file.endsWith('.txt')) total += compressed.length;
}
console.log(`the page has ${Math.round(total / 1024)} KiB, compressed`);
if (total > GZIP_BYTES_MAX) {
  console.error(`it may have ${GZIP_BYTES_MAX / 1024} KiB`);
  process.exit(1);
}

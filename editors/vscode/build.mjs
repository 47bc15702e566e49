// Builds dist/shellglass.vsix and holds it to its size.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { zip } from './zip.mjs';

/** What a person downloads, in bytes. */
const VSIX_BYTES_MAX = 300_000;

const at = (path) => new URL(path, import.meta.url).pathname;
const read = (path) => readFileSync(at(path));
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.codePointAt(0)};`);

rmSync(at('dist'), { recursive: true, force: true });
mkdirSync(at('dist'));
const common = { bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' };
await build({
  ...common, entryPoints: [at('src/extension.ts')], outfile: at('dist/extension.cjs'),
  format: 'cjs', external: ['vscode'], minify: true, legalComments: 'none',
});
// What can be tested without an editor.
await build({ ...common, entryPoints: [at('src/testable.ts')], outfile: at('dist/testable.mjs'), format: 'esm' });

const { scripts, devDependencies, private: _, type, ...manifest } = JSON.parse(read('package.json'));
const { name, publisher, version, displayName, description, engines, categories, keywords } = manifest;
const vsix = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Tags>${keywords.join(',')}</Tags>
    <Categories>${categories.join(',')}</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
const types = ['json', 'cjs', 'svg', 'md', 'txt', 'vsixmanifest'].map((extension) =>
  `<Default Extension="${extension}" ContentType="${{ json: 'application/json', cjs: 'application/javascript', svg: 'image/svg+xml', md: 'text/markdown', txt: 'text/plain', vsixmanifest: 'text/xml' }[extension]}"/>`);
const archive = zip([
  ['extension.vsixmanifest', Buffer.from(vsix)],
  ['[Content_Types].xml', Buffer.from(`<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">${types.join('')}</Types>\n`)],
  ['extension/package.json', Buffer.from(JSON.stringify(manifest))],
  ['extension/README.md', read('README.md')],
  ['extension/LICENSE.txt', Buffer.concat([read('../../LICENSE-MIT'), Buffer.from('\n'), read('../../LICENSE-APACHE')])],
  ['extension/media/icon.svg', read('media/icon.svg')],
  ['extension/dist/extension.cjs', read('dist/extension.cjs')],
]);
writeFileSync(at('dist/shellglass.vsix'), archive);
console.log(`the extension has ${Math.round(archive.length / 1000)} KB`);
if (archive.length > VSIX_BYTES_MAX) {
  console.error(`it may have ${VSIX_BYTES_MAX / 1000} KB`);
  process.exit(1);
}

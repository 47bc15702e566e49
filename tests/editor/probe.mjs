// An extension that is not ours, as that of a model would be: it asks the editor for
// the tools that it offers, and calls one.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { zip } from '../../editors/vscode/zip.mjs';
import { until } from '../web/daemon.mjs';
import { command } from './editor.mjs';

const MANIFEST = {
  name: 'probe', publisher: 'shellglass-tests', version: '0.0.1', engines: { vscode: '^1.101.0' },
  main: './probe.cjs', activationEvents: [],
  contributes: { commands: [{ command: 'probe.call', title: 'Probe: Call the Tools of the Editor' }] },
};

const PROGRAM = `
const vscode = require('vscode');
const { renameSync, writeFileSync } = require('node:fs');

async function called(name, input) {
  try {
    const { content } = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
    return content.map((part) => part.value).join('');
  } catch (error) {
    return String(error);
  }
}

exports.activate = (context) => {
  context.subscriptions.push(vscode.commands.registerCommand('probe.call', async () => {
    const tools = vscode.lm.tools.map(({ name }) => name).filter((name) => name.includes('shellglass')).sort();
    const ran = await called('shellglass_execute_command', { command: 'cat bar; ls /nowhere' });
    const path = process.env.HOME + '/probed';
    writeFileSync(path + '.new', JSON.stringify({ tools, ran }));
    renameSync(path + '.new', path);
  }));
};
`;

const VSIX = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="probe" Version="0.0.1" Publisher="shellglass-tests"/>
    <DisplayName>Probe</DisplayName>
    <Description>Asks for tools.</Description>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
`;

const TYPES = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
  <Default Extension="json" ContentType="application/json"/><Default Extension="cjs" ContentType="application/javascript"/>
  <Default Extension="vsixmanifest" ContentType="text/xml"/>
</Types>
`;

/** Writes it where the editor can install it from. */
export function writeProbe(path) {
  const files = [
    ['extension.vsixmanifest', VSIX], ['[Content_Types].xml', TYPES],
    ['extension/package.json', JSON.stringify(MANIFEST)], ['extension/probe.cjs', PROGRAM],
  ];
  writeFileSync(path, zip(files.map(([name, text]) => [name, Buffer.from(text)])));
}

/** What the editor offers to models, and what a call comes to. */
export async function probed(editor, page) {
  const path = `${editor.home}/probed`;
  rmSync(path, { force: true });
  await command(page, 'Probe: Call the Tools of the Editor');
  return until('the editor has answered', () => {
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch (error) {
      if (error.code !== 'ENOENT') throw error;
      return null;
    }
  });
}

// Shellglass as the shell of models inside the editor: language-model tools, and
// an MCP server that the editor may start. Where the editor's API has neither,
// nothing is offered.

import * as vscode from 'vscode';
import { limited } from './habits';
import type { McpClient } from './mcp';
import { binary, isElsewhere, offersMcp, offersTools, toolLimits, toolVariables } from './settings';

/** The tools of `shellglass mcp` that are offered, and how the editor calls them. */
export const TOOLS = ['execute_command', 'read_output', 'wait', 'cancel'];

export function registerTools(client: McpClient): vscode.Disposable[] {
  if (typeof vscode.lm?.registerTool !== 'function' || !offersTools() || isElsewhere()) return [];
  return TOOLS.map((name) => vscode.lm.registerTool(`shellglass_${name}`, new Tool(client, name)));
}

class Tool implements vscode.LanguageModelTool<object> {
  constructor(
    private readonly client: McpClient,
    private readonly name: string,
  ) {}

  async invoke(
    { input }: vscode.LanguageModelToolInvocationOptions<object>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    const aborted = new AbortController();
    const subscription = token.onCancellationRequested(() => aborted.abort());
    try {
      const args = limited(this.name, { ...input }, toolLimits());
      const answer = await this.client.call(this.name, args, aborted.signal);
      const texts = answer.content.filter((part) => part.type === 'text');
      return new vscode.LanguageModelToolResult(
        texts.map((part) => new vscode.LanguageModelTextPart(part.text ?? '')));
    } finally {
      subscription.dispose();
    }
  }
}

export function registerMcp(version: string): vscode.Disposable[] {
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== 'function' || !offersMcp()) return [];
  const provider: vscode.McpServerDefinitionProvider = {
    provideMcpServerDefinitions: () => {
      if (isElsewhere()) return [];
      const server = new vscode.McpStdioServerDefinition('Shellglass', binary(), ['mcp'], toolVariables(), version);
      const folder = vscode.workspace.workspaceFolders?.[0];
      if (folder !== undefined) server.cwd = folder.uri;
      return [server];
    },
  };
  return [vscode.lm.registerMcpServerDefinitionProvider('shellglass.mcp', provider)];
}

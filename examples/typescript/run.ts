// Runs a command through Shellglass and shows what it writes as it comes.
//
// usage: node run.ts COMMAND      (Node 22.18 or later, which reads TypeScript)
//
// Needs `npm ci` here, and a daemon (`shellglass serve --detach`).

import { execFileSync } from "node:child_process";
import { credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const PROTO = new URL("../../crates/glass-proto/proto", import.meta.url).pathname;

/** One item of what `Execute` streams; the name of its kind is in `event`. */
interface Item {
  event: string;
  stdout?: { data: string; raw?: Buffer };
  stderr?: { data: string; raw?: Buffer };
  exit?: { code: number };
}

/** Where the daemon of this user listens. */
function socket(): string {
  const printed = execFileSync("shellglass", ["config", "path"], { encoding: "utf8" });
  const runtime = /^runtime (.*)$/m.exec(printed)?.[1];
  return `unix:${runtime}/daemon.sock`;
}

function client() {
  const described = loadSync("shellglass_v1.proto", { includeDirs: [PROTO], oneofs: true });
  // The names come from the contract at run time, so the compiler knows none of them.
  const contract: any = loadPackageDefinition(described);
  return new contract.shellglass.v1.ShellExec(socket(), credentials.createInsecure());
}

/** Calls a method with one answer. */
function call(shells: any, method: string, request: object): Promise<any> {
  return new Promise((resolve, reject) => {
    shells[method](request, (error: Error | null, answer: unknown) => (error ? reject(error) : resolve(answer)));
  });
}

async function main(command: string): Promise<number> {
  const shells = client();
  const session = await call(shells, "CreateSession", {});
  let code = 125;
  const items: AsyncIterable<Item> = shells.Execute({ sessionId: session.sessionId, args: { command } });
  for await (const item of items) {
    if (item.stdout) process.stdout.write(item.stdout.raw ?? item.stdout.data);
    else if (item.stderr) process.stderr.write(item.stderr.raw ?? item.stderr.data);
    else if (item.exit) code = item.exit.code;
    else if (item.event !== "start") console.error(item);
  }
  await call(shells, "DisposeSession", { sessionId: session.sessionId });
  shells.close();
  return code;
}

if (process.argv.length !== 3) {
  console.error("usage: node run.ts COMMAND");
  process.exit(2);
}
process.exitCode = await main(process.argv[2]);

// Makes TypeScript of the contract (src/contract.ts): one interface for each message as
// protobuf-JSON has it, and a table of the service's methods. Nothing here knows
// a message by name, so what the contract gains is there with the next build.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import protobuf from 'protobufjs';

const PROTO = new URL('../crates/glass-proto/proto/', import.meta.url);
const FILES = ['agent_v1.proto', 'shellglass_v1.proto'];

/** How protobuf-JSON writes scalars: 64-bit numbers and bytes are texts. */
const SCALARS = {
  bool: 'boolean', string: 'string', bytes: 'string', float: 'number', double: 'number',
  int32: 'number', uint32: 'number', sint32: 'number', fixed32: 'number', sfixed32: 'number',
  int64: 'string', uint64: 'string', sint64: 'string', fixed64: 'string', sfixed64: 'string',
};

/** `agent.v1.SandboxPolicy.Type` is `SandboxPolicyType` in TypeScript. */
function named(type) {
  return type.fullName.replace(/^\.(agent|shellglass)\.v1\./, '').replaceAll('.', '');
}

function typeOf(field) {
  return SCALARS[field.type] ?? named(field.resolvedType);
}

function member(field) {
  const type = typeOf(field);
  const whole = field.map ? `Record<string, ${type}>` : field.repeated ? `${type}[]` : type;
  // What has presence is absent where it is not set; zeros are printed.
  const isOptional = field.partOf !== null || (field.resolvedType instanceof protobuf.Type && !field.repeated && !field.map);
  return `  ${protobuf.util.camelCase(field.name)}${isOptional ? '?' : ''}: ${whole};`;
}

function declare(space, lines) {
  for (const item of space.nestedArray) {
    if (item instanceof protobuf.Enum) {
      lines.push(`export type ${named(item)} =${Object.keys(item.values).map((name) => `\n  | '${name}'`).join('')};\n`);
    } else if (item instanceof protobuf.Type) {
      const members = item.fieldsArray.map(member);
      lines.push(`export interface ${named(item)} {\n${members.join('\n')}${members.length > 0 ? '\n' : ''}}\n`);
      declare(item, lines);
    } else if (item instanceof protobuf.Service) {
      const unary = item.methodsArray.filter((method) => !method.requestStream && !method.responseStream);
      const methods = unary.map((method) =>
        `  ${method.name}: { request: ${named(method.resolvedRequestType)}; answer: ${named(method.resolvedResponseType)} };`);
      lines.push(`export interface Methods {\n${methods.join('\n')}\n}\n`);
    } else if (item instanceof protobuf.Namespace) {
      declare(item, lines);
    }
  }
}

/** The contract as a module of types. */
function contract() {
  const root = new protobuf.Root();
  for (const file of FILES) {
    protobuf.parse(readFileSync(new URL(file, PROTO), 'utf8'), root, { keepCase: true });
  }
  root.resolveAll();
  const lines = ['// Generated from the contract by generate.mjs. Do not edit.\n'];
  declare(root, lines);
  return lines.join('\n');
}

const CONTRACT = new URL('src/contract.ts', import.meta.url);
const text = contract();
// A file that stays as it is stays as old as it is, so nothing is built again for it.
const before = existsSync(CONTRACT) ? readFileSync(CONTRACT, 'utf8') : '';
if (text !== before) writeFileSync(CONTRACT, text);

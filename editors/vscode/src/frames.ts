// The frames of a WebSocket (RFC 6455), as a client sends and receives them.
// Pure and bounded: what is too long or against the rules is an error.

/** The longest message that is received, in bytes; the daemon's pieces are far shorter. */
export const MESSAGE_BYTES_MAX = 16 << 20;

export type Opcode = 0x0 | 0x1 | 0x2 | 0x8 | 0x9 | 0xa;
export const CONTINUATION = 0x0;
export const TEXT = 0x1;
export const BINARY = 0x2;
export const CLOSE = 0x8;
export const PING = 0x9;
export const PONG = 0xa;

/** The longest control frame, in bytes. */
const CONTROL_BYTES_MAX = 125;

/** A whole message. */
export interface Message {
  opcode: number;
  payload: Buffer;
}

/** The other side does not keep to the rules. */
export class Broken extends Error {}

/** A frame as a client sends it: whole, and masked with these four bytes. */
export function frame(opcode: number, payload: Uint8Array, mask: Uint8Array): Buffer {
  const { length } = payload;
  const head = length < 126 ? 2 : length <= 0xffff ? 4 : 10;
  const bytes = Buffer.alloc(head + 4 + length);
  bytes[0] = 0x80 | opcode;
  if (head === 2) bytes[1] = 0x80 | length;
  else if (head === 4) {
    bytes[1] = 0x80 | 126;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = 0x80 | 127;
    bytes.writeBigUInt64BE(BigInt(length), 2);
  }
  bytes.set(mask, head);
  for (let at = 0; at < length; at += 1) {
    bytes[head + 4 + at] = (payload[at] as number) ^ (mask[at & 3] as number);
  }
  return bytes;
}

/** Puts messages together from bytes, however they were cut. */
export class Reader {
  private held: Buffer = Buffer.alloc(0);
  /** What came after `held`; joined to it once that is of use. */
  private later: Uint8Array[] = [];
  private laterBytes = 0;
  /** Bytes without which nothing more can be read. */
  private needed = 0;
  private parts: Buffer[] = [];
  private partsBytes = 0;
  private opcode = CONTINUATION;

  /** The messages that these bytes complete. */
  take(bytes: Uint8Array): Message[] {
    this.later.push(bytes);
    this.laterBytes += bytes.length;
    if (this.held.length + this.laterBytes < this.needed) return [];
    this.held = Buffer.concat([this.held, ...this.later]);
    this.later = [];
    this.laterBytes = 0;
    this.needed = 0;
    const messages: Message[] = [];
    for (let next = this.next(); next !== null; next = this.next()) {
      if (next !== 'part') messages.push(next);
    }
    return messages;
  }

  private next(): Message | 'part' | null {
    const { held } = this;
    if (held.length < 2) return null;
    const [first, second] = [held[0] as number, held[1] as number];
    if ((first & 0x70) !== 0) throw new Broken('a frame uses an extension that nobody agreed on');
    if ((second & 0x80) !== 0) throw new Broken('a frame of a server is masked');
    const short = second & 0x7f;
    const head = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (held.length < head) return null;
    const length =
      head === 2 ? short : head === 4 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2));
    if (length + this.partsBytes > MESSAGE_BYTES_MAX) throw new Broken('a message is too long');
    if (held.length < head + length) {
      this.needed = head + length;
      return null;
    }
    this.held = held.subarray(head + length);
    return this.whole(first & 0x0f, (first & 0x80) !== 0, held.subarray(head, head + length));
  }

  private whole(opcode: number, isLast: boolean, payload: Buffer): Message | 'part' {
    if (opcode >= CLOSE) {
      if (!isLast || payload.length > CONTROL_BYTES_MAX) throw new Broken('a control frame is too long');
      return { opcode, payload };
    }
    const isFirst = opcode !== CONTINUATION;
    if (isFirst && opcode !== TEXT && opcode !== BINARY) throw new Broken('a frame is of no known kind');
    if (isFirst === (this.opcode !== CONTINUATION)) throw new Broken('a message is cut wrongly');
    if (isFirst) this.opcode = opcode;
    this.parts.push(payload);
    this.partsBytes += payload.length;
    if (!isLast) return 'part';
    const message = { opcode: this.opcode, payload: Buffer.concat(this.parts) };
    this.parts = [];
    this.partsBytes = 0;
    this.opcode = CONTINUATION;
    return message;
  }
}

// Writes a ZIP archive: the same bytes for the same files, on every machine.
import { deflateRawSync } from 'node:zlib';

/** 1980-01-01, the first day that the format knows. */
const DATE = 0x0021;

const TABLE = Array.from({ length: 256 }, (_, at) => {
  let value = at;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function crc32(bytes) {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff];
  return (crc ^ 0xffffffff) >>> 0;
}

/** What the header of a file and its entry in the directory have in common. */
function common(name, content, packed) {
  const bytes = Buffer.alloc(26);
  bytes.writeUInt16LE(20, 0); // version needed
  bytes.writeUInt16LE(0x0800, 2); // names are UTF-8
  bytes.writeUInt16LE(8, 4); // deflated
  bytes.writeUInt16LE(0, 6);
  bytes.writeUInt16LE(DATE, 8);
  bytes.writeUInt32LE(crc32(content), 10);
  bytes.writeUInt32LE(packed.length, 14);
  bytes.writeUInt32LE(content.length, 18);
  bytes.writeUInt16LE(name.length, 22);
  return bytes;
}

/** The archive of these files: names and contents, in order. */
export function zip(files) {
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const [path, content] of files) {
    const name = Buffer.from(path);
    const packed = deflateRawSync(content, { level: 9 });
    const shared = common(name, content, packed);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00', 'latin1'), shared, entry, name);
    const header = [Buffer.from('PK\x03\x04', 'latin1'), shared, name, packed];
    parts.push(...header);
    offset += header.reduce((sum, part) => sum + part.length, 0);
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 0, 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}

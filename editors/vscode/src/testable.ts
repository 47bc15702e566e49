// What tests use without an editor.
export { Daemon } from './daemon';
export { BINARY, Broken, CLOSE, MESSAGE_BYTES_MAX, Reader, TEXT, frame } from './frames';
export { McpClient } from './mcp';
export { isBelow, isWhole, mirrorName, oneLine } from './names';
export { NotFound, find } from './place';
export { FLASH_MS, View, WINDOW_BYTES } from './view';

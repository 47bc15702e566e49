// What tests use without an editor.
export { Daemon } from './daemon';
export { BINARY, Broken, CLOSE, MESSAGE_BYTES_MAX, Reader, TEXT, frame } from './frames';
export { habitsOf, isOlder, limited, lookOf, opensByItself, readingVariables } from './habits';
export { McpClient } from './mcp';
export { inert, isBelow, isWhole, mirrorName, oneLine, said } from './names';
export { NotFound, find } from './place';
export { View, WINDOW_BYTES } from './view';

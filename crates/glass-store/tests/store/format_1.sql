-- A journal as the first format had it: one session, a command that ended, and
-- one that waits.
PRAGMA page_size = 1024;
PRAGMA journal_mode = WAL;
BEGIN;
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sessions (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  active_ms INTEGER NOT NULL,
  disposed_ms INTEGER,
  created_ms INTEGER NOT NULL,
  owner INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  auto INTEGER NOT NULL,
  shell_kind INTEGER NOT NULL,
  shell_path TEXT NOT NULL,
  startup INTEGER NOT NULL,
  cwd TEXT NOT NULL,
  name TEXT NOT NULL,
  task TEXT NOT NULL,
  workspace_root TEXT NOT NULL,
  scrollback INTEGER NOT NULL,
  cols INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  ephemeral INTEGER NOT NULL,
  sandbox BLOB
) STRICT;
CREATE INDEX sessions_by_disposal ON sessions (disposed_ms);
CREATE TABLE session_env (session INTEGER PRIMARY KEY, env BLOB NOT NULL) STRICT;
CREATE TABLE executions (
  shell_id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  phase INTEGER NOT NULL,
  kept INTEGER NOT NULL DEFAULT 0,
  stdout_forgotten INTEGER NOT NULL DEFAULT 0,
  stderr_forgotten INTEGER NOT NULL DEFAULT 0,
  position_forgotten INTEGER NOT NULL DEFAULT 0,
  launch INTEGER,
  slot INTEGER NOT NULL,
  start_idx INTEGER,
  end_idx INTEGER,
  started_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  code INTEGER,
  abort_reason INTEGER,
  signal INTEGER,
  out_of_memory INTEGER NOT NULL,
  shell_replaced INTEGER NOT NULL,
  sandbox_denials BLOB,
  spawn_error TEXT,
  timeout_ms INTEGER NOT NULL,
  tool_call_scope TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  cwd TEXT NOT NULL,
  requested_cwd TEXT NOT NULL,
  env BLOB,
  sandbox BLOB NOT NULL,
  command TEXT NOT NULL
) STRICT;
CREATE INDEX executions_by_session ON executions (session, shell_id, phase, kept);
CREATE UNIQUE INDEX executions_by_tool_call
  ON executions (tool_call_scope, tool_call_id) WHERE tool_call_id != '';
CREATE TABLE events (
  session INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  shell_id INTEGER,
  kind INTEGER NOT NULL,
  stream INTEGER,
  offset INTEGER,
  bytes INTEGER,
  position INTEGER,
  payload BLOB,
  PRIMARY KEY (session, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_of_output ON events (shell_id, position) WHERE kind < 2;
INSERT INTO "events" VALUES(1,0,100,1,2,NULL,NULL,NULL,NULL,X'066563686F2031052F686F6D6504');
INSERT INTO "executions" VALUES(1,1,2,0,0,0,0,NULL,0,NULL,NULL,10,20,0,NULL,NULL,0,0,NULL,NULL,0,'','','/home','',NULL,X'0100000000000000','echo 1');
INSERT INTO "executions" VALUES(2,1,0,0,0,0,0,NULL,0,NULL,NULL,10,NULL,NULL,NULL,NULL,0,0,NULL,NULL,0,'','','/home','',NULL,X'0100000000000000','echo 2');
INSERT INTO "session_env" VALUES(1,X'413D3100423DFFFE00433D00');
INSERT INTO "sessions" VALUES(1,'s-bbbbbbbbbbbbbbbb',2,NULL,1,0,1,1,0,'/bin/bash',1,'/home','a name','a task','',1000,80,24,0,NULL);
PRAGMA user_version = 1;
COMMIT;

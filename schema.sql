-- The complete current schema. A new database file is created from it. The
-- migrations in src/platform/database/migrations.ts bring an older file to it.
-- Money is integer micro-dollars (one cent = 10,000). Timestamps are ISO 8601
-- UTC with milliseconds. Ids are UUIDs of version 7, so they sort by time.
-- Tables that most requests write compare a column with each value of a list:
-- for `in (...)` with three or more values, SQLite builds a temporary table on
-- each write, which takes 2 microseconds.

create table company (
  id            text primary key,
  name          text not null,
  description   text,
  status        text not null default 'active' check (status in ('active', 'paused', 'archived')),
  pause_reason  text check (pause_reason in ('manual', 'budget')),
  paused_at     text,
  stopped_at    text,                               -- the time of the emergency stop; separate from the status, which a thaw restores
  issue_prefix  text not null unique,               -- the first part of issue identifiers; never changes
  issue_counter integer not null default 0,         -- the number of the last issue; a number is never reused
  budget_micros integer not null default 0 check (budget_micros >= 0), -- for each month; 0 means no limit
  require_board_approval_for_new_agents integer not null default 0 check (require_board_approval_for_new_agents in (0, 1)),
  trust_hires     integer not null default 0 check (trust_hires in (0, 1)), -- whether hires by agents count as approved by the board
  run_mcp         integer check (run_mcp in (0, 1)), -- whether runs get the MCP server; null: the setting of the instance
  allowed_folders text not null default '[]' check (json_valid(allowed_folders)), -- the absolute paths of the folders that agents may use
  brand_color   text check (brand_color glob '#[0-9a-fA-F]*'),
  logo_asset_id text,
  created_at    text not null,
  updated_at    text not null,
  check ((status = 'paused') = (paused_at is not null))
) strict;

-- The contents of an imported package that no other table stores: license,
-- README, teams and further fields of COMPANY.md. An export contains them again.
create table package_part (
  company_id text not null references company (id) on delete cascade,
  path       text not null,                         -- the path in the package
  kind       text not null check (kind in ('about', 'team', 'document', 'kept')), -- kept: the fields of an entity that have no column; the path is kept/<id>
  content    blob not null,                         -- the bytes of a document; otherwise JSON
  primary key (company_id, path)
) strict, without rowid;

create trigger company_prefix_is_final before update of issue_prefix on company when new.issue_prefix <> old.issue_prefix
begin
  select raise(abort, 'issue_prefix cannot be changed');
end;

-- People, in authenticated mode. The tables auth_* are those of better-auth,
-- which has its own connection to this database.
create table auth_user (
  id             text primary key,
  name           text not null,
  email          text not null unique check (email = lower(email)),
  email_verified integer not null default 0 check (email_verified in (0, 1)),
  image          text,
  may_create_companies integer not null default 0 check (may_create_companies in (0, 1)), -- true for the person who set up the server
  created_at     text not null,
  updated_at     text not null
) strict;

create table auth_session (
  id          text primary key,
  user_id     text not null references auth_user (id) on delete cascade,
  token       text not null unique,                 -- invalid without a signature by keys/session.key
  expires_at  text not null,
  ip_address  text,
  user_agent  text,
  created_at  text not null,
  updated_at  text not null
) strict;

create index auth_session_by_user on auth_session (user_id);

create table auth_account (
  id            text primary key,
  user_id       text not null references auth_user (id) on delete cascade,
  account_id    text not null,
  provider_id   text not null,
  password      text,                               -- bcrypt
  access_token  text,
  refresh_token text,
  id_token      text,
  access_token_expires_at  text,
  refresh_token_expires_at text,
  scope         text,
  created_at    text not null,
  updated_at    text not null,
  unique (user_id, provider_id)
) strict;

create table auth_verification (
  id         text primary key,
  identifier text not null,
  value      text not null,
  expires_at text not null,
  created_at text not null,
  updated_at text not null
) strict;

create table membership (
  company_id text not null references company (id) on delete cascade,
  user_id    text not null references auth_user (id) on delete cascade,
  role       text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  created_at text not null,
  primary key (company_id, user_id)
) strict, without rowid;

create index membership_by_user on membership (user_id, company_id);

create table invitation (
  id         text primary key,
  company_id text not null references company (id) on delete cascade,
  role       text not null check (role in ('owner', 'admin', 'member', 'viewer')),
  hash       text not null unique,                  -- SHA-256 of the token of the link; the token is not stored
  invited_by_user_id text not null,
  created_at text not null,
  expires_at text not null,
  accepted_at text,
  accepted_by_user_id text,
  revoked_at text
) strict;

create index invitation_by_company on invitation (company_id, id);

-- The API tokens of people, for scripts.
create table board_token (
  id           text primary key,
  user_id      text not null references auth_user (id) on delete cascade,
  name         text not null,
  prefix       text not null,
  hash         text not null unique,
  created_at   text not null,
  expires_at   text,                                -- null means never
  last_used_at text,
  revoked_at   text
) strict;

create index board_token_by_user on board_token (user_id, id);

create table agent (
  id              text primary key,
  company_id      text not null references company (id) on delete cascade,
  name            text not null,
  url_key         text not null,
  role            text not null,
  title           text,
  icon            text,
  -- `running` is not stored. It is derived from live runs, so it cannot become outdated.
  status          text not null default 'idle' check (status in ('idle', 'paused', 'error', 'pending_approval', 'terminated')),
  reports_to      text references agent (id),
  capabilities    text,
  adapter_type    text not null,
  adapter_config  text not null default '{}' check (json_valid(adapter_config)),
  runtime_config  text not null default '{}' check (json_valid(runtime_config)),
  desired_skills  text not null default '[]' check (json_valid(desired_skills)), -- canonical keys of skills
  permissions     text not null default '{}' check (json_valid(permissions)),
  metadata        text check (metadata is null or json_valid(metadata)),
  config_approved integer not null default 1 check (config_approved in (0, 1)), -- whether a person set or approved its configuration
  unapproved_paths text not null default '[]' check (json_valid(unapproved_paths)), -- the keys of adapter_config with a path that an agent set
  allowed_once    text not null default '[]' check (json_valid(allowed_once)), -- folders that the board allowed for the next run only
  budget_micros   integer not null default 0 check (budget_micros >= 0), -- for each month; 0 means no limit
  pause_reason    text check (pause_reason in ('manual', 'budget', 'failures', 'loop')),
  pause_message   text,                             -- the reason, as a sentence
  paused_at       text,
  error_reason    text,
  failures        integer not null default 0,       -- the number of consecutive failed runs
  held_until      text,                             -- no run starts before this time, for example because the provider refuses requests
  held_because    text,                             -- the reason of the hold, as a sentence
  resumed_at      text,                             -- earlier runs do not count as a loop
  timer_due_at    text,                             -- the time of the next timer wake; null if the timer is off
  last_heartbeat_at text,
  created_at      text not null,
  updated_at      text not null,
  unique (company_id, url_key),
  check (reports_to <> id),
  check ((status = 'paused') = (pause_reason is not null)),
  check ((held_until is null) = (held_because is null))
) strict;

create index agent_by_company on agent (company_id, id);
create index agent_by_status on agent (company_id, status);
create index agent_by_manager on agent (reports_to);
create index agent_by_pause on agent (pause_reason) where pause_reason is not null;
create index agent_by_due on agent (timer_due_at) where timer_due_at is not null;
create index agent_by_hold on agent (held_until) where held_until is not null;

-- The emergency stop of the instance. While its single row exists, no run starts.
create table freeze (
  id         integer primary key check (id = 1),
  reason     text,
  user_id    text not null,                         -- the person who started it
  created_at text not null
) strict;

-- A place on other machines where runs execute. Runs without a placement execute on this machine.
create table placement (
  name       text primary key check (name <> 'local'),
  type       text not null check (type in ('ssh', 'slurm', 'kubernetes')),
  settings   text not null default '{}' check (json_valid(settings)), -- the schema depends on the type
  max_runs   integer not null check (max_runs > 0), -- the maximum number of live runs
  is_default integer not null default 0 check (is_default in (0, 1)), -- the default of agents and projects without a placement
  tunnel_port integer,                              -- for ssh: the port on the remote machine that is forwarded to the API
  created_at text not null,
  updated_at text not null
) strict;

create unique index placement_one_default on placement (is_default) where is_default = 1;

create table agent_key (
  id           text primary key,
  company_id   text not null references company (id) on delete cascade,
  agent_id     text not null references agent (id),
  name         text not null,
  prefix       text not null,                       -- the beginning of the key, which lists display
  hash         text not null unique,                -- SHA-256 of the key; the key is not stored
  created_at   text not null,
  expires_at   text,                                -- null means never
  scope        text not null default 'work' check (scope in ('read', 'work')), -- a read key allows GET only
  last_used_at text,
  revoked_at   text
) strict;

create index agent_key_by_agent on agent_key (agent_id);

create table config_revision (
  id                 text primary key,
  company_id         text not null references company (id) on delete cascade,
  agent_id           text not null references agent (id),
  created_by_agent_id text references agent (id),
  created_by_user_id text,
  source             text not null check (source in ('create', 'patch', 'rollback', 'hire')),
  rolled_back_from_revision_id text references config_revision (id),
  changed_keys       text not null check (json_valid(changed_keys)),
  before_config      text check (before_config is null or json_valid(before_config)),
  after_config       text not null check (json_valid(after_config)),
  created_at         text not null
) strict;

create index config_revision_by_agent on config_revision (agent_id, id);

-- Secrets that an `env` refers to by name. They are encrypted with a key file
-- outside the database, and bound to the company and the name (src/platform/vault.ts).
create table secret (
  id          text primary key,
  company_id  text not null references company (id) on delete cascade,
  name        text not null,
  description text,
  sealed      text not null,
  version     integer not null default 1,           -- the number of changes of the value
  created_at  text not null,
  updated_at  text not null,
  unique (company_id, name)
) strict;

create table goal (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  title          text not null,
  description    text,
  level          text not null default 'task' check (level in ('company', 'team', 'agent', 'task')),
  status         text not null default 'planned' check (status in ('planned', 'active', 'achieved', 'cancelled')),
  parent_id      text references goal (id),
  owner_agent_id text references agent (id),
  created_at     text not null,
  updated_at     text not null,
  check (parent_id <> id)
) strict;

create index goal_by_company on goal (company_id, id);
create index goal_by_parent on goal (parent_id);

create table project (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  name          text not null,
  url_key       text not null,
  description   text,
  status        text not null default 'planned' check (status in ('backlog', 'planned', 'active', 'in_progress', 'completed', 'cancelled')),
  lead_agent_id text references agent (id),
  target_date   text,
  env           text not null default '{}' check (json_valid(env)), -- for the runs on its issues; the env of the agent has precedence
  placement     text,                               -- the placement of the runs on its issues; the placement of the agent has precedence; null means the default of the instance
  archived_at   text,
  created_at    text not null,
  updated_at    text not null,
  unique (company_id, url_key)
) strict;

create index project_by_company on project (company_id, id);

create table project_goal (
  project_id text not null references project (id) on delete cascade,
  goal_id    text not null references goal (id),
  position   integer not null,                      -- the order; the first goal is the project's `goalId`
  primary key (project_id, goal_id)
) strict, without rowid;

create index project_goal_by_goal on project_goal (goal_id);

create table workspace (
  id         text primary key,
  company_id text not null references company (id) on delete cascade,
  project_id text not null references project (id) on delete cascade,
  name       text not null,
  cwd        text,
  cwd_approved integer not null default 1 check (cwd_approved in (0, 1)), -- 0 if an agent set cwd
  repo_url   text,
  repo_ref   text,
  is_primary integer not null check (is_primary in (0, 1)),
  isolation  text not null default 'none' check (isolation in ('none', 'worktree')), -- worktree: each issue has its own worktree and branch
  setup_command   text,                             -- shell commands of the board, run after the creation and before the removal of a worktree
  cleanup_command text,
  created_at text not null,
  updated_at text not null,
  check (cwd is not null or repo_url is not null)   -- a workspace has a folder or a repository
) strict;

create index workspace_by_project on workspace (project_id, id);
create unique index workspace_one_primary on workspace (project_id) where is_primary = 1;

create table label (
  id         text primary key,
  company_id text not null references company (id) on delete cascade,
  name       text not null collate nocase,
  color      text not null check (color glob '#[0-9a-fA-F]*'),
  created_at text not null,
  updated_at text not null,
  unique (company_id, name)
) strict;

create table issue (
  seq           integer primary key,                -- the rowid for the full-text index; VACUUM does not change it
  id            text not null unique,
  company_id    text not null references company (id) on delete cascade,
  issue_number  integer not null,
  identifier    text not null unique collate nocase,
  title         text not null,
  description   text,
  status        text not null check (status = 'backlog' or status = 'todo' or status = 'in_progress' or status = 'in_review' or status = 'blocked' or status = 'done' or status = 'cancelled'),
  priority      text not null default 'medium' check (priority = 'critical' or priority = 'high' or priority = 'medium' or priority = 'low'),
  priority_rank integer not null generated always as (case priority when 'critical' then 0 when 'high' then 1 when 'medium' then 2 else 3 end) stored,
  assignee_agent_id text references agent (id),
  assignee_user_id  text,
  assigned_by_type  text check (assigned_by_type = 'agent' or assigned_by_type = 'user' or assigned_by_type = 'system'), -- who set the current assignee (contract rule 5)
  assigned_by_id    text,
  assigned_at   text,
  parent_id     text references issue (id),
  project_id    text references project (id),
  goal_id       text references goal (id),
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_by_run_id   text references run (id),
  request_depth integer not null default 0,         -- the number of ancestors
  billing_code  text,
  started_at    text,
  completed_at  text,
  cancelled_at  text,
  created_at    text not null,
  updated_at    text not null,
  check (parent_id <> id),
  check (assignee_agent_id is null or assignee_user_id is null), -- at most one assignee
  check (status <> 'in_progress' or assignee_agent_id is not null or assignee_user_id is not null), -- an issue in progress has an assignee
  check ((status = 'done') = (completed_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
) strict;

-- Each filter of the list of issues has an index that ends with the order of the list.
create index issue_by_priority on issue (company_id, priority_rank, id desc);
create index issue_by_status on issue (company_id, status, priority_rank, id desc);
create index issue_by_assignee on issue (assignee_agent_id, status, priority_rank, id desc) where assignee_agent_id is not null;
create index issue_by_assignee_user on issue (assignee_user_id, status, priority_rank, id desc) where assignee_user_id is not null;
create index issue_by_project on issue (project_id, status, priority_rank, id desc) where project_id is not null;
create index issue_by_parent on issue (parent_id, status, priority_rank, id desc) where parent_id is not null;
create index issue_by_goal on issue (goal_id, status, priority_rank, id desc) where goal_id is not null;

-- For the stale issues on the dashboard: issues in progress, the longest unchanged first.
create index issue_in_progress on issue (company_id, updated_at) where status = 'in_progress';

-- The number of issues of a company by status, updated by triggers.
create table issue_count (
  company_id text not null references company (id) on delete cascade,
  status     text not null check (status = 'backlog' or status = 'todo' or status = 'in_progress' or status = 'in_review' or status = 'blocked' or status = 'done' or status = 'cancelled'),
  n          integer not null check (n >= 0),
  primary key (company_id, status)
) strict, without rowid;

create trigger issue_count_insert after insert on issue begin
  insert into issue_count (company_id, status, n) values (new.company_id, new.status, 1)
    on conflict do update set n = n + 1;
end;
create trigger issue_count_delete after delete on issue begin
  update issue_count set n = n - 1 where company_id = old.company_id and status = old.status;
end;
create trigger issue_count_update after update of status on issue when new.status <> old.status begin
  update issue_count set n = n - 1 where company_id = old.company_id and status = old.status;
  insert into issue_count (company_id, status, n) values (new.company_id, new.status, 1)
    on conflict do update set n = n + 1;
end;

create table issue_label (
  issue_id text not null references issue (id) on delete cascade,
  label_id text not null references label (id) on delete cascade,
  primary key (issue_id, label_id)
) strict, without rowid;

create index issue_label_by_label on issue_label (label_id, issue_id);

create table issue_blocker (
  issue_id   text not null references issue (id) on delete cascade,
  blocker_id text not null references issue (id) on delete cascade, -- the issue that must be finished before issue_id can continue
  primary key (issue_id, blocker_id),
  check (issue_id <> blocker_id)
) strict, without rowid;

create index issue_blocker_by_blocker on issue_blocker (blocker_id, issue_id);

create table comment (
  seq              integer primary key,             -- the rowid for the full-text index
  id               text not null unique,
  company_id       text not null references company (id) on delete cascade,
  issue_seq        integer not null references issue (seq) on delete cascade, -- a number, for a small index: each comment writes a page of it
  author_type      text not null check (author_type = 'agent' or author_type = 'user' or author_type = 'system'),
  author_agent_id  text references agent (id),
  author_user_id   text,
  created_by_run_id text references run (id),
  body             text not null,
  created_at       text not null,
  updated_at       text not null,
  check ((author_type = 'agent') = (author_agent_id is not null)),
  check ((author_type = 'user') = (author_user_id is not null))
) strict;

create index comment_by_issue on comment (issue_seq); -- ends with the rowid, which is seq

-- The people that a comment mentions. Mentioned agents are woken instead.
create table mention (
  comment_id text not null references comment (id) on delete cascade,
  user_id    text not null,                         -- a person, or 'board' for all members of the company
  company_id text not null references company (id) on delete cascade,
  primary key (comment_id, user_id)
) strict, without rowid;

create index mention_by_person on mention (company_id, user_id, comment_id);

-- The inbox items that a person has read or dismissed. An item that changes afterwards is unread again.
create table inbox_state (
  user_id      text not null,
  item_id      text not null,
  company_id   text not null references company (id) on delete cascade,
  item_at      text not null,                       -- the time of the item's last change
  read_at      text,
  dismissed_at text,
  primary key (user_id, item_id)
) strict, without rowid;

-- Which activity of an issue a person has seen last. A later one of somebody else makes the issue unread.
create table issue_read (
  user_id      text not null,
  issue_id     text not null references issue (id) on delete cascade,
  activity_seq integer not null check (activity_seq >= -1), -- -1: the person marked the issue as unread
  primary key (user_id, issue_id)
) strict, without rowid;

create index issue_read_by_issue on issue_read (issue_id); -- for the foreign key

-- The rowid of a text in a full-text index is -seq, so that the newest text is the first. FTS5 reads the texts with a word
-- in ascending order in half of the time of the descending one.
create view issue_text_source as select -seq as id, title, identifier, description from issue;
create view comment_text_source as select -seq as id, body from comment;
-- The index merges 16 segments at once instead of 4, which saves a fifth of the processor time of a comment.
-- In quiet times it merges 2 (src/platform/database/merge-text.ts).
-- It stores no sizes of texts, because no search ranks by them.
create virtual table issue_text using fts5 (title, identifier, description, content = 'issue_text_source', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', columnsize = 0);
insert into issue_text (issue_text, rank) values ('automerge', 16), ('crisismerge', 32), ('usermerge', 2);
create virtual table comment_text using fts5 (body, content = 'comment_text_source', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3', columnsize = 0);
insert into comment_text (comment_text, rank) values ('automerge', 16), ('crisismerge', 32), ('usermerge', 2);
-- The words of each index, in order. A search looks up the words that begin with one of its terms.
create virtual table issue_word using fts5vocab (issue_text, instance);
create virtual table comment_word using fts5vocab (comment_text, instance);

-- The texts that are not in the index. The end of each transaction indexes them together
-- (src/platform/database/text-index.ts), which takes a third of the time of one by one.
create table issue_text_pending (seq integer primary key) strict;
create table comment_text_pending (seq integer primary key) strict;

create trigger issue_text_insert after insert on issue begin
  insert into issue_text_pending (seq) values (new.seq);
end;
create trigger issue_text_delete after delete on issue begin
  insert into issue_text (issue_text, rowid, title, identifier, description)
    select 'delete', -old.seq, old.title, old.identifier, old.description
    where not exists (select 1 from issue_text_pending where seq = old.seq);
  delete from issue_text_pending where seq = old.seq;
end;
create trigger issue_text_update after update of title, description on issue
when not exists (select 1 from issue_text_pending where seq = old.seq) begin
  insert into issue_text (issue_text, rowid, title, identifier, description) values ('delete', -old.seq, old.title, old.identifier, old.description);
  insert into issue_text_pending (seq) values (new.seq);
end;

create trigger comment_text_insert after insert on comment begin
  insert into comment_text_pending (seq) values (new.seq);
end;
create trigger comment_text_delete after delete on comment begin
  insert into comment_text (comment_text, rowid, body)
    select 'delete', -old.seq, old.body where not exists (select 1 from comment_text_pending where seq = old.seq);
  delete from comment_text_pending where seq = old.seq;
end;
create trigger comment_text_update after update of body on comment
when not exists (select 1 from comment_text_pending where seq = old.seq) begin
  insert into comment_text (comment_text, rowid, body) values ('delete', -old.seq, old.body);
  insert into comment_text_pending (seq) values (new.seq);
end;

-- The skills of agents: a SKILL.md with its files. The files are in the database,
-- so that a change or a deletion of a skill is one transaction.
create table skill (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  key            text not null,                     -- the canonical key, which desired_skills of agents contains
  slug           text not null,                     -- the last part of the key
  name           text not null,
  description    text,
  source_type    text not null check (source_type in ('bundled', 'inline', 'local_path', 'github')),
  source_locator text,                              -- the folder, or the URL of the repository with the folder
  source_ref     text,
  trust_level    text not null check (trust_level in ('markdown_only', 'assets', 'scripts_executables')),
  file_inventory text not null check (json_valid(file_inventory)), -- the rows of skill_file without their content
  digest         text not null,                     -- a hash of all its files
  is_reference   integer not null default 0 check (is_reference in (0, 1)), -- whether SKILL.md refers to a text that is not stored
  created_at     text not null,
  updated_at     text not null,
  unique (company_id, key)
) strict;

create index skill_by_slug on skill (company_id, slug);
create index skill_by_bundle on skill (digest) where source_type = 'bundled';

create table skill_file (
  skill_id       text not null references skill (id) on delete cascade,
  path           text not null,                     -- a validated path below the folder of the skill
  content        blob not null,
  unique (skill_id, path)
) strict;

-- Uploaded files. Their content is in <data dir>/assets/<id>.
create table asset (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  file_name     text not null,                      -- the name from the client; never used as a path
  content_type  text not null,                      -- detected from the content; the declared type is ignored
  bytes         integer not null,
  sha256        text not null,
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_by_run_id   text references run (id),
  created_at    text not null
) strict;

create index asset_by_company on asset (company_id, id);

-- Files on disk of deleted rows that are not yet removed: <data dir>/<folder>/<id>.
create table leftover (
  folder        text not null check (folder in ('agents', 'assets', 'runs', 'skills')),
  id            text primary key check (length(id) = 36 and id not glob '*[^0-9a-f-]*') -- prevents any other path
) strict, without rowid;

create table attachment (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  issue_id      text not null references issue (id) on delete cascade,
  asset_id      text not null unique references asset (id) on delete cascade, -- an asset is attached to one issue
  created_at    text not null
) strict;

create index attachment_by_issue on attachment (issue_id, id);

-- Texts that belong to an issue, such as its plan. The key is unique within the issue.
create table document (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  issue_id      text not null references issue (id) on delete cascade,
  key           text not null,
  latest_number integer not null,                   -- the number of the latest revision
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_at    text not null,
  unique (issue_id, key)
) strict;

create table document_revision (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  document_id   text not null references document (id) on delete cascade,
  number        integer not null,                   -- 1, 2, 3, ...
  title         text,
  format        text not null check (format in ('markdown')),
  body          text not null,
  change_summary text,
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_by_run_id   text references run (id),
  created_at    text not null,
  unique (document_id, number)
) strict;

-- Questions to people on an issue, with their answers.
create table interaction (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  issue_id      text not null references issue (id) on delete cascade,
  kind          text not null check (kind in ('question', 'confirm', 'choose', 'suggest_tasks')),
  status        text not null default 'pending' check (status in ('pending', 'answered', 'cancelled')),
  asked         text not null check (json_valid(asked)), -- the question: title, question, options, tasks
  answer        text check (answer is null or json_valid(answer)),
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_by_run_id   text references run (id),
  answered_by_user_id text,
  answered_at   text,
  created_at    text not null,
  updated_at    text not null,
  check ((status = 'answered') = (answer is not null))
) strict;

create index interaction_by_issue on interaction (issue_id, id);
create index interaction_by_company on interaction (company_id, status, id);

create table approval (
  id          text primary key,
  company_id  text not null references company (id) on delete cascade,
  type        text not null check (type in ('hire_agent', 'approve_ceo_strategy', 'request_board_approval', 'allow_folder')),
  status      text not null default 'pending' check (status in ('pending', 'revision_requested', 'approved', 'rejected', 'cancelled')),
  requested_by_agent_id text references agent (id),
  requested_by_user_id  text,
  agent_id    text references agent (id),           -- the agent that a hire_agent or allow_folder approval is about
  payload     text not null default '{}' check (json_valid(payload)),
  chosen_option text,                               -- for request_board_approval: the option that the board chose
  decision_note text,
  decided_by_user_id text,
  decided_at  text,
  created_at  text not null,
  updated_at  text not null,
  check ((status in ('approved', 'rejected')) <= (decided_at is not null))
) strict;

create index approval_by_company on approval (company_id, status, id);
create index approval_by_requester on approval (requested_by_agent_id, type, status);
create unique index approval_one_open_hire on approval (agent_id) where type = 'hire_agent' and status in ('pending', 'revision_requested');
create index approval_of_folder on approval (agent_id) where type = 'allow_folder';

create table approval_issue (
  approval_id text not null references approval (id) on delete cascade,
  issue_id    text not null references issue (id) on delete cascade,
  primary key (approval_id, issue_id)
) strict, without rowid;

create index approval_issue_by_issue on approval_issue (issue_id, approval_id);

create table approval_comment (
  id              text primary key,
  company_id      text not null references company (id) on delete cascade,
  approval_id     text not null references approval (id) on delete cascade,
  author_type     text not null check (author_type in ('agent', 'user', 'system')),
  author_agent_id text references agent (id),
  author_user_id  text,
  created_by_run_id text references run (id),
  body            text not null,
  created_at      text not null,
  updated_at      text not null
) strict;

create index approval_comment_by_approval on approval_comment (approval_id, id);

create table wake (
  id          text primary key,
  company_id  text not null references company (id) on delete cascade,
  agent_id    text not null references agent (id),
  status      text not null default 'waiting' check (status in ('waiting', 'claimed', 'dropped')),
  reasons     text not null check (json_valid(reasons)), -- the causes, oldest first: { source, issueId?, commentId?, approvalId?, actorType, actorId, runId?, at }
  issue_id    text references issue (id) on delete set null, -- the first issue that the run works on
  priority    integer not null default 2,           -- the rank of the most urgent issue; 0 for a manual invocation
  not_before  text,                                 -- the earliest start, for example after the wait before a retry
  retry_of_run_id text references run (id),
  fresh_session integer not null default 0 check (fresh_session in (0, 1)), -- whether the run starts a new session
  depth       integer not null default 0,           -- the number of runs in the chain of causes; 0 after an action of a person and for the timer
  dropped_reason text,
  created_at  text not null,
  updated_at  text not null
) strict;

create unique index wake_one_waiting on wake (agent_id) where status = 'waiting'; -- later causes are merged into it
create index wake_served on wake (updated_at) where status <> 'waiting';
create index wake_by_moment on wake (not_before) where status = 'waiting' and not_before is not null;

create table run (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  agent_id       text not null references agent (id),
  wake_id        text references wake (id) on delete set null, -- null after retention deleted the wake
  status         text not null check (status in ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')),
  slot           integer not null default 0,        -- the slot, below the agent's maxConcurrentRuns
  source         text not null check (source in ('timer', 'on_demand', 'issue_assigned', 'issue_commented', 'mention', 'approval_resolved', 'blockers_resolved', 'children_done', 'retry')),
  reasons        text not null check (json_valid(reasons)),
  issue_id       text references issue (id) on delete set null,
  adapter_type   text not null,
  retry_of_run_id text references run (id),
  depth          integer not null default 0,        -- the depth of its wake
  stop_reason    text check (stop_reason in ('cancelled', 'closed', 'paused', 'terminated', 'budget', 'shutdown', 'stopped')), -- set before the first signal; the first cause applies
  pid            integer,                           -- valid only together with pid_started and boot_id
  pid_started    text,
  boot_id        text,
  placement      text,                              -- the placement; null for this machine
  job_id         text,                              -- the id of the job in the engine; null until it was submitted
  job_node       text,                              -- the machine of the placement that executes it
  job_waiting    text,                              -- the reason why the job is queued
  cwd            text,                              -- this and the next three columns are set before the spawn
  instructions_hash text,
  grace_sec      integer,
  timeout_sec    integer,                           -- the time limits, which the server also enforces if the shim does not
  silence_sec    integer,
  session_id_before text,
  session_id_after  text,
  exit_code      integer,
  signal         text,
  error          text,
  error_code     text,
  summary        text,
  retrying       text,                              -- the current retry of the program, with its cause
  refused_tools  integer not null default 0,        -- the number of refused tool calls
  git_head       text,                              -- the commit of the issue's worktree at the start; null without a worktree
  changes        text check (json_valid(changes)),  -- set at the end: the changes in the worktree
  idle           integer check (idle in (0, 1)),    -- set at the end: whether the run changed nothing; null if unknown
  created_at     text not null,
  started_at     text,
  finished_at    text,
  log_bytes      integer,                           -- the size of its folder on disk; null until retention has measured it
  log_deleted_at text,                              -- the time when retention deleted its folder
  check ((status in ('starting', 'running')) = (finished_at is null))
) strict;

-- The git worktree of an issue, if its workspace isolates issues. The row remains after the removal, because the branch remains.
create table worktree (
  issue_id      text primary key references issue (id) on delete cascade,
  company_id    text not null references company (id) on delete cascade,
  workspace_id  text references workspace (id) on delete set null,
  path          text not null,                      -- the folder of the worktree, below the data directory
  cwd           text not null,                      -- the working directory of runs: path, or the workspace's folder in it
  git_dir       text not null,                      -- this and common_dir are the folders in which git stores the state of the worktree and of the repository
  common_dir    text not null,
  object_format text not null,
  branch        text not null,
  base_commit   text not null,                      -- the commit at which the branch starts
  is_set_up     integer not null default 0 check (is_set_up in (0, 1)), -- whether the set-up command has succeeded
  is_sandboxed  integer not null default 0 check (is_sandboxed in (0, 1)), -- whether a sandboxed run worked in it; then the server's own commands in it are sandboxed too
  created_at    text not null,
  removed_at    text
) strict;

create index worktree_by_workspace on worktree (workspace_id);

create unique index run_one_live_per_slot on run (agent_id, slot) where finished_at is null;
-- The live runs. finished_at is the first column, so that SQLite prefers this index to the indexes of all runs.
create index run_live on run (finished_at, company_id, id) where finished_at is null;
create index run_live_by_agent on run (finished_at, agent_id, id) where finished_at is null;
create index run_by_company on run (company_id, id);
create index run_by_agent on run (agent_id, id);
create index run_by_issue on run (issue_id, id) where issue_id is not null;
create index run_by_wake on run (wake_id);
create index run_by_end on run (finished_at, id) where finished_at is not null;
create index run_log_unmeasured on run (id) where finished_at is not null and log_bytes is null;
create index run_log_kept on run (finished_at, id, log_bytes) where log_bytes > 0 and log_deleted_at is null;

-- The number of runs of an agent on a UTC day, the number of idle ones and their cost, updated by triggers.
create table run_total (
  company_id   text not null references company (id) on delete cascade,
  day          text not null,
  agent_id     text not null references agent (id),
  adapter_type text not null,
  status       text not null check (status in ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')),
  n            integer not null check (n >= 0),
  idle         integer not null default 0,
  idle_micros  integer not null default 0,
  primary key (company_id, day, agent_id, adapter_type, status)
) strict, without rowid;

create index run_total_by_agent on run_total (agent_id, day);
create index run_total_with_idle on run_total (company_id, day, agent_id, idle, idle_micros) where idle > 0;

create trigger run_total_insert after insert on run begin
  insert into run_total (company_id, day, agent_id, adapter_type, status, n)
    values (new.company_id, substr(new.created_at, 1, 10), new.agent_id, new.adapter_type, new.status, 1)
    on conflict do update set n = n + 1;
end;
create trigger run_total_update after update of status on run when new.status <> old.status begin
  update run_total set n = n - 1
    where company_id = old.company_id and day = substr(old.created_at, 1, 10) and agent_id = old.agent_id
      and adapter_type = old.adapter_type and status = old.status;
  insert into run_total (company_id, day, agent_id, adapter_type, status, n)
    values (new.company_id, substr(new.created_at, 1, 10), new.agent_id, new.adapter_type, new.status, 1)
    on conflict do update set n = n + 1;
end;
-- `idle` is set when the run ends or later, and an ended run never becomes live again.
create trigger run_total_idle after update of idle on run when new.idle = 1 and old.idle is not 1 begin
  insert into run_total (company_id, day, agent_id, adapter_type, status, n, idle, idle_micros)
    values (new.company_id, substr(new.created_at, 1, 10), new.agent_id, new.adapter_type, new.status, 0, 1,
      (select coalesce(sum(cost_micros), 0) from cost_event where run_id = new.id))
    on conflict do update set idle = idle + 1, idle_micros = idle_micros + excluded.idle_micros;
end;

-- The sums of run_total over the agents of a company, updated by triggers.
create table company_run_total (
  company_id   text not null references company (id) on delete cascade,
  day          text not null,
  adapter_type text not null,
  status       text not null check (status in ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')),
  n            integer not null,
  idle         integer not null,
  idle_micros  integer not null,
  primary key (company_id, day, adapter_type, status)
) strict, without rowid;

create trigger company_run_total_insert after insert on run_total begin
  insert into company_run_total (company_id, day, adapter_type, status, n, idle, idle_micros)
    values (new.company_id, new.day, new.adapter_type, new.status, new.n, new.idle, new.idle_micros)
    on conflict do update set n = n + excluded.n, idle = idle + excluded.idle, idle_micros = idle_micros + excluded.idle_micros;
end;
create trigger company_run_total_update after update on run_total begin
  update company_run_total
    set n = n + new.n - old.n, idle = idle + new.idle - old.idle, idle_micros = idle_micros + new.idle_micros - old.idle_micros
    where company_id = new.company_id and day = new.day and adapter_type = new.adapter_type and status = new.status;
end;

create table agent_session (
  agent_id     text not null references agent (id) on delete cascade,
  issue_key    text not null,                       -- the id of the issue, or '' for work without an issue
  adapter_type text not null,
  session_id   text not null,
  cwd          text not null,                       -- a session is resumed only in the same folder
  instructions_hash text,                           -- changed instructions require a new session
  totals       text not null default '{}' check (json_valid(totals)),
  updated_at   text not null,
  primary key (agent_id, issue_key, adapter_type)
) strict, without rowid;

create table cost_event (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  agent_id      text references agent (id),         -- null for a correction of the company's spend
  issue_id      text,                               -- not a foreign key, because costs remain after the deletion of an issue
  project_id    text references project (id),
  goal_id       text references goal (id),
  run_id        text references run (id),
  billing_code  text,
  provider      text not null,
  model         text not null,
  input_tokens  integer not null default 0,
  cached_input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cost_micros   integer not null default 0,         -- may be negative, because a later report corrects an estimate
  cost_status   text not null check (cost_status in ('reported', 'estimated', 'unpriced')),
  occurred_at   text not null,
  created_at    text not null
) strict;

create index cost_event_by_company on cost_event (company_id, occurred_at);
create index cost_event_by_run on cost_event (run_id) where run_id is not null;
create index cost_event_by_issue on cost_event (issue_id) where issue_id is not null;

create trigger run_total_cost after insert on cost_event when new.run_id is not null begin
  update run_total set idle_micros = idle_micros + new.cost_micros
    where (company_id, day, agent_id, adapter_type, status) in
      (select company_id, substr(created_at, 1, 10), agent_id, adapter_type, status from run where id = new.run_id and idle = 1);
end;

-- Running totals of cost events, updated by triggers.
-- `period` is a UTC day (2026-11-21) or month (2026-11).
create table cost_total (
  company_id    text not null references company (id) on delete cascade,
  kind          text not null check (kind in ('company', 'agent', 'project', 'issue', 'model')),
  key           text not null,                      -- an id; `provider/model` for a model; '' for events without one
  period        text not null,
  events        integer not null,
  unpriced      integer not null,                   -- the number of events without a known price
  input_tokens  integer not null,
  cached_input_tokens integer not null,
  output_tokens integer not null,
  cost_micros   integer not null,
  primary key (company_id, kind, period, key)
) strict, without rowid;

create trigger cost_total_add after insert on cost_event begin
  insert into cost_total (company_id, kind, key, period, events, unpriced, input_tokens, cached_input_tokens, output_tokens, cost_micros)
  select new.company_id, k.kind, k.key, p.period, 1, new.cost_status = 'unpriced', new.input_tokens, new.cached_input_tokens, new.output_tokens, new.cost_micros
  from (select 'company' as kind, '' as key
        union all select 'agent', coalesce(new.agent_id, '')
        union all select 'project', coalesce(new.project_id, '')
        union all select 'issue', coalesce(new.issue_id, '')
        union all select 'model', new.provider || '/' || new.model) as k,
       (select substr(new.occurred_at, 1, 10) as period union all select substr(new.occurred_at, 1, 7)) as p
  where true
  on conflict do update set
    events = events + 1,
    unpriced = unpriced + excluded.unpriced,
    input_tokens = input_tokens + excluded.input_tokens,
    cached_input_tokens = cached_input_tokens + excluded.cached_input_tokens,
    output_tokens = output_tokens + excluded.output_tokens,
    cost_micros = cost_micros + excluded.cost_micros;
end;

-- The latest report of a run for a model decides whether the price of all its events is known.
create trigger cost_total_status after update of cost_status on cost_event
when (old.cost_status = 'unpriced') <> (new.cost_status = 'unpriced') begin
  update cost_total set unpriced = unpriced + iif(new.cost_status = 'unpriced', 1, -1)
  where company_id = new.company_id
    and period in (substr(new.occurred_at, 1, 10), substr(new.occurred_at, 1, 7))
    and (kind, key) in (values ('company', ''), ('agent', coalesce(new.agent_id, '')), ('project', coalesce(new.project_id, '')),
      ('issue', coalesce(new.issue_id, '')), ('model', new.provider || '/' || new.model));
end;

-- The append-only record of all changes and their actors. Each row contains the
-- hash of the previous row of its company, which reveals altered and removed rows.
create table activity (
  seq         integer primary key,
  id          text not null unique,
  company_id  text not null references company (id) on delete cascade,
  actor_type  text not null check (actor_type = 'agent' or actor_type = 'user' or actor_type = 'system'),
  actor_id    text not null,
  action      text not null,
  entity_type text not null,
  entity_id   text not null,
  agent_id    text,
  run_id      text,
  details     text check (details is null or json_valid(details)),
  created_at  text not null,
  previous_hash text not null,
  hash        text not null
) strict;

create index activity_by_company on activity (company_id, seq);
create index activity_by_agent on activity (company_id, agent_id, seq) where agent_id is not null;
create index activity_by_entity on activity (entity_id); -- ends with the rowid, which is seq
create index activity_by_action on activity (company_id, action, seq);
create index activity_by_run on activity (run_id, seq) where run_id is not null;

create trigger activity_is_append_only before update on activity begin
  select raise(abort, 'activity is append-only');
end;

-- Invitations of outside agents. Only hashes of their tokens and claim secrets are stored.
create table invite (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  token_hash    text not null unique,               -- SHA-256
  message       text,                               -- the message of the inviter to the agent
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_at    text not null,
  expires_at    text not null,                      -- the time until which it can be accepted
  accepted_at   text,
  agent_id      text references agent (id),         -- the agent that was created by its acceptance
  claim_hash    text,                               -- SHA-256
  claim_expires_at text,                            -- the time until which the key can be claimed
  claimed_at    text,
  revoked_at    text,
  check ((accepted_at is null) = (agent_id is null)),
  check ((accepted_at is null) = (claim_hash is null)),
  check (claimed_at is null or accepted_at is not null)
) strict;

create index invite_by_company on invite (company_id, id);

-- The receivers of the events of a company (src/runtime/webhook/sender.ts). The
-- activity is the queue: `cursor` is the last activity that was turned into deliveries.
create table webhook (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  description    text,
  url            text not null,
  events         text not null check (json_valid(events)), -- patterns of actions: `issue.*`
  secret         text not null,                     -- encrypted; signs the deliveries
  status         text not null default 'active' check (status in ('active', 'disabled')),
  disabled_at    text,
  disabled_why   text check (disabled_why in ('board', 'failing', 'gone')),
  failing_since  text,                              -- the time of the first failed attempt since the last successful one
  cursor         integer not null,
  created_at     text not null,
  updated_at     text not null,
  check ((status = 'disabled') = (disabled_at is not null)),
  check ((status = 'disabled') = (disabled_why is not null))
) strict;

create index webhook_by_company on webhook (company_id, id);

create table webhook_delivery (
  id              text primary key,
  webhook_id      text not null references webhook (id) on delete cascade,
  company_id      text not null references company (id) on delete cascade,
  event           text not null,
  payload         text not null check (json_valid(payload)), -- the body, equal in each attempt
  status          text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts        integer not null default 0,
  next_attempt_at text,
  response_status integer,
  error           text,
  duration_ms     integer,
  created_at      text not null,
  updated_at      text not null,
  check ((status = 'pending') = (next_attempt_at is not null))
) strict;

create index webhook_delivery_by_webhook on webhook_delivery (webhook_id, id);
create index webhook_delivery_by_company on webhook_delivery (company_id);
create index webhook_delivery_due on webhook_delivery (webhook_id, next_attempt_at) where status = 'pending';

create table idempotency (
  caller      text not null,                        -- the caller; keys of different callers are independent
  key         text not null,
  request     text not null,                        -- a keyed hash of method, path and body, because a body may contain a secret
  status      integer not null,
  response    text not null,                        -- the body, as JSON
  created_at  text not null,
  primary key (caller, key)
) strict, without rowid;

create index idempotency_by_age on idempotency (created_at);

-- A template of recurring issues. It creates one at each scheduled time
-- (src/work/routine/fire.ts).
create table routine (
  id                text primary key,
  company_id        text not null references company (id) on delete cascade,
  title             text not null,
  description       text,
  priority          text not null default 'medium' check (priority in ('critical', 'high', 'medium', 'low')),
  project_id        text references project (id) on delete set null,
  goal_id           text references goal (id) on delete set null,
  parent_id         text references issue (id) on delete set null,
  assignee_agent_id text references agent (id),
  cron              text,                           -- five fields
  time_zone         text,                           -- the time zone of the cron expression; null means UTC
  interval_sec      integer check (interval_sec >= 60),
  overlap           text not null default 'skip' check (overlap in ('skip', 'queue', 'allow')),
  status            text not null default 'active' check (status in ('active', 'paused')),
  next_due_at       text,
  queued_due_at     text,                           -- the scheduled time that waits for the end of the open issue
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_at        text not null,
  updated_at        text not null,
  check (cron is null or interval_sec is null),     -- without both, the routine is only run manually
  check (cron is not null or time_zone is null),
  check ((status = 'active' and (cron is not null or interval_sec is not null)) = (next_due_at is not null)),
  check (status = 'paused' or assignee_agent_id is not null), -- an imported routine may lack an assignee while it is paused
  check (queued_due_at is null or (overlap = 'queue' and status = 'active'))
) strict;

create index routine_by_company on routine (company_id, id);
create index routine_by_due on routine (next_due_at) where next_due_at is not null;
create index routine_by_queued on routine (queued_due_at) where queued_due_at is not null;

create table routine_label (
  routine_id text not null references routine (id) on delete cascade,
  label_id   text not null references label (id) on delete cascade,
  primary key (routine_id, label_id)
) strict, without rowid;

create index routine_label_by_label on routine_label (label_id);

-- The results of the scheduled times of a routine. Only the latest are stored.
create table routine_run (
  id         text primary key,
  company_id text not null references company (id) on delete cascade,
  routine_id text not null references routine (id) on delete cascade,
  source     text not null check (source in ('schedule', 'by_hand')),
  due_at     text not null,
  fired_at   text not null,                         -- later than due_at if the server could not run it in time
  outcome    text not null check (outcome in ('created', 'queued', 'skipped')),
  issue_id   text references issue (id) on delete set null,
  reason     text,                                  -- a sentence
  check (issue_id is null or outcome = 'created'),
  check ((outcome = 'created') = (reason is null))
) strict;

create index routine_run_by_company on routine_run (company_id);
create index routine_run_by_routine on routine_run (routine_id, id);
create index routine_run_by_issue on routine_run (issue_id) where issue_id is not null;

-- For deletions: SQLite searches every table that refers to the deleted row, and
-- without an index it reads the whole table for each row.
create index config_revision_by_origin on config_revision (rolled_back_from_revision_id) where rolled_back_from_revision_id is not null;
create index issue_by_creating_run on issue (created_by_run_id) where created_by_run_id is not null;
create index comment_by_creating_run on comment (created_by_run_id) where created_by_run_id is not null;
create index asset_by_creating_run on asset (created_by_run_id) where created_by_run_id is not null;
create index approval_comment_by_creating_run on approval_comment (created_by_run_id) where created_by_run_id is not null;
create index interaction_by_creating_run on interaction (created_by_run_id) where created_by_run_id is not null;
create index document_by_company on document (company_id);
create index document_revision_by_company on document_revision (company_id);
create index document_revision_by_creating_run on document_revision (created_by_run_id) where created_by_run_id is not null;
create index invite_by_agent on invite (agent_id) where agent_id is not null;
create index wake_by_retried_run on wake (retry_of_run_id) where retry_of_run_id is not null;
create index wake_by_issue on wake (issue_id) where issue_id is not null;
create index run_by_retried_run on run (retry_of_run_id) where retry_of_run_id is not null;
create index cost_event_by_goal on cost_event (goal_id) where goal_id is not null;
create index cost_event_by_project on cost_event (project_id) where project_id is not null;
create index routine_by_goal on routine (goal_id) where goal_id is not null;
create index routine_by_parent on routine (parent_id) where parent_id is not null;
create index routine_by_project on routine (project_id) where project_id is not null;
create index routine_by_assignee on routine (assignee_agent_id) where assignee_agent_id is not null;
create index routine_by_creator on routine (created_by_agent_id) where created_by_agent_id is not null;

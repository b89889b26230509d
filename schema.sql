-- The whole schema as it is. A new file is created from this; an older one is
-- brought here by the numbered steps in src/platform/database/migrations.ts.
-- Money is integer micro-dollars (one cent = 10,000). Timestamps are ISO 8601
-- UTC with milliseconds. Ids are UUIDs of version 7, so they sort by time.

create table company (
  id            text primary key,
  name          text not null,
  description   text,
  status        text not null default 'active' check (status in ('active', 'paused', 'archived')),
  pause_reason  text check (pause_reason in ('manual', 'budget')),
  paused_at     text,
  stopped_at    text,                               -- the emergency stop: beside the status, so that a thaw brings back what was
  issue_prefix  text not null unique,               -- identifiers are built from it, so it never changes
  issue_counter integer not null default 0,         -- the number of the last issue; numbers are never used twice
  budget_micros integer not null default 0 check (budget_micros >= 0), -- a month; 0 is no limit
  require_board_approval_for_new_agents integer not null default 0 check (require_board_approval_for_new_agents in (0, 1)),
  trust_hires     integer not null default 0 check (trust_hires in (0, 1)), -- whether what agents hire counts as approved by the board
  run_mcp         integer check (run_mcp in (0, 1)), -- whether runs get the MCP server; null: the setting of the instance
  allowed_folders text not null default '[]' check (json_valid(allowed_folders)), -- absolute paths: where paths that agents set may lead
  brand_color   text check (brand_color glob '#[0-9a-fA-F]*'),
  logo_asset_id text,
  created_at    text not null,
  updated_at    text not null,
  check ((status = 'paused') = (paused_at is not null))
) strict;

-- What a package says that no other table holds: its license and readme, its
-- teams, what COMPANY.md has besides. Kept so that an export gives it back.
create table package_part (
  company_id text not null references company (id) on delete cascade,
  path       text not null,                         -- as in the package
  kind       text not null check (kind in ('about', 'team', 'document', 'kept')), -- kept: fields of an entity without a column; its path is kept/<id>
  content    blob not null,                         -- of a document its bytes, else JSON
  primary key (company_id, path)
) strict, without rowid;

create trigger company_prefix_is_final before update of issue_prefix on company when new.issue_prefix <> old.issue_prefix
begin
  select raise(abort, 'issue_prefix cannot be changed');
end;

-- People, in authenticated mode. The tables auth_* are those of better-auth,
-- which reads them and writes sessions through a connection of its own.
create table auth_user (
  id             text primary key,
  name           text not null,
  email          text not null unique check (email = lower(email)),
  email_verified integer not null default 0 check (email_verified in (0, 1)),
  image          text,
  may_create_companies integer not null default 0 check (may_create_companies in (0, 1)), -- who set the server up
  created_at     text not null,
  updated_at     text not null
) strict;

create table auth_session (
  id          text primary key,
  user_id     text not null references auth_user (id) on delete cascade,
  token       text not null unique,                 -- worth nothing without a signature under keys/session.key
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
  hash       text not null unique,                  -- SHA-256 of the link's token; the token itself is nowhere
  invited_by_user_id text not null,
  created_at text not null,
  expires_at text not null,
  accepted_at text,
  accepted_by_user_id text,
  revoked_at text
) strict;

create index invitation_by_company on invitation (company_id, id);

-- What a person's scripts sign in with.
create table board_token (
  id           text primary key,
  user_id      text not null references auth_user (id) on delete cascade,
  name         text not null,
  prefix       text not null,
  hash         text not null unique,
  created_at   text not null,
  expires_at   text,                                -- null: never
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
  -- `running` is never stored: it is read from live runs, so it cannot get stuck.
  status          text not null default 'idle' check (status in ('idle', 'paused', 'error', 'pending_approval', 'terminated')),
  reports_to      text references agent (id),
  capabilities    text,
  adapter_type    text not null,
  adapter_config  text not null default '{}' check (json_valid(adapter_config)),
  runtime_config  text not null default '{}' check (json_valid(runtime_config)),
  desired_skills  text not null default '[]' check (json_valid(desired_skills)), -- canonical skill keys
  permissions     text not null default '{}' check (json_valid(permissions)),
  metadata        text check (metadata is null or json_valid(metadata)),
  config_approved integer not null default 1 check (config_approved in (0, 1)), -- whether a person set or approved its configuration
  unapproved_paths text not null default '[]' check (json_valid(unapproved_paths)), -- the keys of adapter_config whose path an agent set
  allowed_once    text not null default '[]' check (json_valid(allowed_once)), -- folders that the board allowed for the next run only
  budget_micros   integer not null default 0 check (budget_micros >= 0), -- a month; 0 is no limit
  pause_reason    text check (pause_reason in ('manual', 'budget', 'failures', 'loop')),
  pause_message   text,                             -- the reason in a sentence
  paused_at       text,
  error_reason    text,
  failures        integer not null default 0,       -- failed runs in a row
  held_until      text,                             -- a provider refuses it until then: nothing starts before
  held_because    text,                             -- that in a sentence
  resumed_at      text,                             -- runs before it count for no loop
  timer_due_at    text,                             -- the next timer wake; null when the timer is off
  last_heartbeat_at text,
  created_at      text not null,
  updated_at      text not null,
  unique (company_id, url_key),
  check (reports_to <> id),
  check ((status = 'paused') = (pause_reason is not null)),
  check ((held_until is null) = (held_because is null))
) strict;

create index agent_by_company on agent (company_id, id);
create index agent_by_manager on agent (reports_to);
create index agent_by_pause on agent (pause_reason) where pause_reason is not null;
create index agent_by_due on agent (timer_due_at) where timer_due_at is not null;
create index agent_by_hold on agent (held_until) where held_until is not null;

-- The emergency stop of everything: while its one row is here, nothing starts.
create table freeze (
  id         integer primary key check (id = 1),
  reason     text,
  user_id    text not null,                         -- who of the board
  created_at text not null
) strict;

-- A place on other machines where runs execute. Runs that name none execute on this machine.
create table placement (
  name       text primary key check (name <> 'local'),
  type       text not null check (type in ('ssh', 'slurm')),
  settings   text not null default '{}' check (json_valid(settings)), -- of its type
  max_runs   integer not null check (max_runs > 0), -- live runs in it, at most
  is_default integer not null default 0 check (is_default in (0, 1)), -- for agents and projects that name no placement
  tunnel_port integer,                              -- of an ssh placement: the port over there that leads to the API
  created_at text not null,
  updated_at text not null
) strict;

create unique index placement_one_default on placement (is_default) where is_default = 1;

create table agent_key (
  id           text primary key,
  company_id   text not null references company (id) on delete cascade,
  agent_id     text not null references agent (id),
  name         text not null,
  prefix       text not null,                       -- what is shown of the key after its creation
  hash         text not null unique,                -- SHA-256 of the key; the key itself is nowhere
  created_at   text not null,
  expires_at   text,                                -- null: never
  scope        text not null default 'work' check (scope in ('read', 'work')), -- a read key is refused every method but GET
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

-- Values that an `env` refers to by name. They are sealed under a key file that
-- is not in the database, bound to the company and the name (src/access/secret/vault.ts).
create table secret (
  id          text primary key,
  company_id  text not null references company (id) on delete cascade,
  name        text not null,
  description text,
  sealed      text not null,
  version     integer not null default 1,           -- how often it was set
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
  env           text not null default '{}' check (json_valid(env)), -- for the runs on its issues; their agents' own env goes before it
  placement     text,                               -- where the runs on its issues execute, unless their agent says; null for the default of the instance
  archived_at   text,
  created_at    text not null,
  updated_at    text not null,
  unique (company_id, url_key)
) strict;

create index project_by_company on project (company_id, id);

create table project_goal (
  project_id text not null references project (id) on delete cascade,
  goal_id    text not null references goal (id),
  position   integer not null,                      -- the first goal is the project's `goalId`
  primary key (project_id, goal_id)
) strict, without rowid;

create index project_goal_by_goal on project_goal (goal_id);

create table workspace (
  id         text primary key,
  company_id text not null references company (id) on delete cascade,
  project_id text not null references project (id) on delete cascade,
  name       text not null,
  cwd        text,
  cwd_approved integer not null default 1 check (cwd_approved in (0, 1)), -- 0: an agent set cwd
  repo_url   text,
  repo_ref   text,
  is_primary integer not null check (is_primary in (0, 1)),
  isolation  text not null default 'none' check (isolation in ('none', 'worktree')), -- worktree: each issue has a worktree and a branch of its own
  setup_command   text,                             -- shell commands that the board set: after a worktree was created, and before it is removed
  cleanup_command text,
  created_at text not null,
  updated_at text not null,
  check (cwd is not null or repo_url is not null)   -- a workspace is somewhere
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
  seq           integer primary key,                -- the rowid that the full-text index refers to; survives VACUUM
  id            text not null unique,
  company_id    text not null references company (id) on delete cascade,
  issue_number  integer not null,
  identifier    text not null unique collate nocase,
  title         text not null,
  description   text,
  status        text not null check (status in ('backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled')),
  priority      text not null default 'medium' check (priority in ('critical', 'high', 'medium', 'low')),
  priority_rank integer not null generated always as (case priority when 'critical' then 0 when 'high' then 1 when 'medium' then 2 else 3 end) stored,
  assignee_agent_id text references agent (id),
  assignee_user_id  text,
  assigned_by_type  text check (assigned_by_type in ('agent', 'user', 'system')), -- whoever last set the assignee (contract rule 5)
  assigned_by_id    text,
  assigned_at   text,
  parent_id     text references issue (id),
  project_id    text references project (id),
  goal_id       text references goal (id),
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_by_run_id   text references run (id),
  request_depth integer not null default 0,         -- how many issues are above it
  billing_code  text,
  started_at    text,
  completed_at  text,
  cancelled_at  text,
  created_at    text not null,
  updated_at    text not null,
  check (parent_id <> id),
  check (assignee_agent_id is null or assignee_user_id is null), -- one assignee at a time
  check (status <> 'in_progress' or assignee_agent_id is not null or assignee_user_id is not null), -- work in progress has an owner
  check ((status = 'done') = (completed_at is not null)),
  check ((status = 'cancelled') = (cancelled_at is not null))
) strict;

-- Each list order that the API offers, and each filter, has an index that ends in that order.
create index issue_by_priority on issue (company_id, priority_rank, id desc);
create index issue_by_status on issue (company_id, status, priority_rank, id desc);
create index issue_by_assignee on issue (assignee_agent_id, status, priority_rank, id desc) where assignee_agent_id is not null;
create index issue_by_assignee_user on issue (assignee_user_id, status, priority_rank, id desc) where assignee_user_id is not null;
create index issue_by_project on issue (project_id, status, priority_rank, id desc) where project_id is not null;
create index issue_by_parent on issue (parent_id, status, priority_rank, id desc) where parent_id is not null;
create index issue_by_goal on issue (goal_id, status, priority_rank, id desc) where goal_id is not null;

-- What is worked on, the longest unchanged first: the dashboard looks for stale work in it.
create index issue_in_progress on issue (company_id, updated_at) where status = 'in_progress';

-- How many issues a company has, kept by triggers, so that nobody has to count them.
create table issue_count (
  company_id text not null references company (id) on delete cascade,
  status     text not null check (status in ('backlog', 'todo', 'in_progress', 'in_review', 'blocked', 'done', 'cancelled')),
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
  blocker_id text not null references issue (id) on delete cascade, -- must be done before issue_id can go on
  primary key (issue_id, blocker_id),
  check (issue_id <> blocker_id)
) strict, without rowid;

create index issue_blocker_by_blocker on issue_blocker (blocker_id, issue_id);

create table comment (
  seq              integer primary key,             -- the rowid that the full-text index refers to
  id               text not null unique,
  company_id       text not null references company (id) on delete cascade,
  issue_id         text not null references issue (id) on delete cascade,
  author_type      text not null check (author_type in ('agent', 'user', 'system')),
  author_agent_id  text references agent (id),
  author_user_id   text,
  created_by_run_id text references run (id),
  body             text not null,
  created_at       text not null,
  updated_at       text not null,
  check ((author_type = 'agent') = (author_agent_id is not null)),
  check ((author_type = 'user') = (author_user_id is not null))
) strict;

create index comment_by_issue on comment (issue_id, seq);

-- The people that a comment mentions. Mentioned agents are woken instead.
create table mention (
  comment_id text not null references comment (id) on delete cascade,
  user_id    text not null,                         -- a person, or 'board': everybody who belongs to the company
  company_id text not null references company (id) on delete cascade,
  primary key (comment_id, user_id)
) strict, without rowid;

create index mention_by_person on mention (company_id, user_id, comment_id);

-- What a person has read and dismissed of the inbox. An item that changes after that is unread again.
create table inbox_state (
  user_id      text not null,
  item_id      text not null,
  company_id   text not null references company (id) on delete cascade,
  item_at      text not null,                       -- when the item had last changed
  read_at      text,
  dismissed_at text,
  primary key (user_id, item_id)
) strict, without rowid;

-- The full-text index merges its segments at 16 instead of 4: a comment then takes a fifth less time of the processor.
create virtual table issue_text using fts5 (title, identifier, description, content = 'issue', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
insert into issue_text (issue_text, rank) values ('automerge', 16), ('crisismerge', 32);
create trigger issue_text_insert after insert on issue begin
  insert into issue_text (rowid, title, identifier, description) values (new.seq, new.title, new.identifier, new.description);
end;
create trigger issue_text_delete after delete on issue begin
  insert into issue_text (issue_text, rowid, title, identifier, description) values ('delete', old.seq, old.title, old.identifier, old.description);
end;
create trigger issue_text_update after update of title, description on issue begin
  insert into issue_text (issue_text, rowid, title, identifier, description) values ('delete', old.seq, old.title, old.identifier, old.description);
  insert into issue_text (rowid, title, identifier, description) values (new.seq, new.title, new.identifier, new.description);
end;

create virtual table comment_text using fts5 (body, content = 'comment', content_rowid = 'seq', tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');
insert into comment_text (comment_text, rank) values ('automerge', 16), ('crisismerge', 32);
create trigger comment_text_insert after insert on comment begin
  insert into comment_text (rowid, body) values (new.seq, new.body);
end;
create trigger comment_text_delete after delete on comment begin
  insert into comment_text (comment_text, rowid, body) values ('delete', old.seq, old.body);
end;
create trigger comment_text_update after update of body on comment begin
  insert into comment_text (comment_text, rowid, body) values ('delete', old.seq, old.body);
  insert into comment_text (rowid, body) values (new.seq, new.body);
end;

-- What agents can be taught: a SKILL.md with what belongs to it. The files are
-- here and not on disk, so that a skill changes, and goes with its company, whole.
create table skill (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  key            text not null,                     -- canonical: what agents' desired_skills hold
  slug           text not null,                     -- the last part of the key
  name           text not null,
  description    text,
  source_type    text not null check (source_type in ('bundled', 'inline', 'local_path', 'github')),
  source_locator text,                              -- the folder, or the repository's URL with its folder
  source_ref     text,
  trust_level    text not null check (trust_level in ('markdown_only', 'assets', 'scripts_executables')),
  file_inventory text not null check (json_valid(file_inventory)), -- of skill_file, without its content
  digest         text not null,                     -- of all its files: equal means unchanged
  is_reference   integer not null default 0 check (is_reference in (0, 1)), -- SKILL.md refers to a text that is not stored
  created_at     text not null,
  updated_at     text not null,
  unique (company_id, key)
) strict;

create index skill_by_slug on skill (company_id, slug);
create index skill_by_bundle on skill (digest) where source_type = 'bundled';

create table skill_file (
  skill_id       text not null references skill (id) on delete cascade,
  path           text not null,                     -- relative, checked: no way out of its folder
  content        blob not null,
  unique (skill_id, path)
) strict;

-- Files that were uploaded; their bytes are <data dir>/assets/<id>.
create table asset (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  file_name     text not null,                      -- as the uploader called it; never a path here
  content_type  text not null,                      -- recognised by content, never as declared
  bytes         integer not null,
  sha256        text not null,
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_by_run_id   text references run (id),
  created_at    text not null
) strict;

create index asset_by_company on asset (company_id, id);

-- What deleted companies had on the disk, until it is removed: <data dir>/<folder>/<id>.
create table leftover (
  folder        text not null check (folder in ('agents', 'assets', 'runs', 'skills')),
  id            text primary key check (length(id) = 36 and id not glob '*[^0-9a-f-]*') -- never another path
) strict, without rowid;

create table attachment (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  issue_id      text not null references issue (id) on delete cascade,
  asset_id      text not null unique references asset (id) on delete cascade, -- an asset is attached once
  created_at    text not null
) strict;

create index attachment_by_issue on attachment (issue_id, id);

-- Texts that belong to an issue, such as its plan; each has a key of its own there.
create table document (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  issue_id      text not null references issue (id) on delete cascade,
  key           text not null,
  latest_number integer not null,                   -- its latest revision's
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

-- What people are asked on an issue, and their answer.
create table interaction (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  issue_id      text not null references issue (id) on delete cascade,
  kind          text not null check (kind in ('question', 'confirm', 'choose', 'suggest_tasks')),
  status        text not null default 'pending' check (status in ('pending', 'answered', 'cancelled')),
  asked         text not null check (json_valid(asked)), -- title, question, options, tasks
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

create index interaction_by_run on interaction (created_by_run_id);

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
  chosen_option text,                               -- of a request_board_approval: what the board chose
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
  reasons     text not null check (json_valid(reasons)), -- why, oldest first: { source, issueId?, commentId?, approvalId?, actorType, actorId, runId?, at }
  issue_id    text references issue (id) on delete set null, -- what the run will work on first
  priority    integer not null default 2,           -- the most urgent issue's rank; an invocation by hand is 0
  not_before  text,                                 -- waits until then: a retry's backoff, a herd that is spread
  retry_of_run_id text references run (id),
  fresh_session integer not null default 0 check (fresh_session in (0, 1)), -- the run starts a new session
  depth       integer not null default 0,           -- how many runs woke each other up to this wake; zero for a person's act and the timer
  dropped_reason text,
  created_at  text not null,
  updated_at  text not null
) strict;

create unique index wake_one_waiting on wake (agent_id) where status = 'waiting'; -- later causes merge into it
create index wake_served on wake (updated_at) where status <> 'waiting';
create index wake_by_moment on wake (not_before) where status = 'waiting' and not_before is not null;

create table run (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  agent_id       text not null references agent (id),
  wake_id        text references wake (id) on delete set null, -- null after retention deleted the wake
  status         text not null check (status in ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')),
  slot           integer not null default 0,        -- which of the agent's maxConcurrentRuns it takes
  source         text not null check (source in ('timer', 'on_demand', 'issue_assigned', 'issue_commented', 'mention', 'approval_resolved', 'blockers_resolved', 'children_done', 'retry')),
  reasons        text not null check (json_valid(reasons)),
  issue_id       text references issue (id) on delete set null,
  adapter_type   text not null,
  retry_of_run_id text references run (id),
  depth          integer not null default 0,        -- that of its wake
  stop_reason    text check (stop_reason in ('cancelled', 'paused', 'terminated', 'budget', 'shutdown', 'stopped')), -- set before the first signal: the first cause of an ending wins
  pid            integer,                           -- with pid_started and boot_id; a pid alone is never trusted
  pid_started    text,
  boot_id        text,
  placement      text,                              -- where it executes; null for this machine
  job_id         text,                              -- the id that its placement gave it; null until it was submitted
  job_node       text,                              -- the machine of the placement that it is on
  job_waiting    text,                              -- while it waits there: why
  cwd            text,                              -- with the next three: what it was started with, set before the spawn
  instructions_hash text,
  grace_sec      integer,
  timeout_sec    integer,                           -- the time limits, which the server enforces if the shim does not
  silence_sec    integer,
  session_id_before text,
  session_id_after  text,
  exit_code      integer,
  signal         text,
  error          text,
  error_code     text,
  summary        text,
  retrying       text,                              -- while it lives: what its program tries again, and why
  refused_tools  integer not null default 0,        -- how many tool calls were refused to its agent
  git_head       text,                              -- the commit of its issue's worktree at its start; null for a run without one
  changes        text check (json_valid(changes)),  -- set at its end: what it changed there
  idle           integer check (idle in (0, 1)),    -- set at its end: whether it changed nothing; null where that cannot be told
  created_at     text not null,
  started_at     text,
  finished_at    text,
  log_bytes      integer,                           -- the size of its folder on disk; null until retention measured it
  log_deleted_at text,                              -- retention deleted its folder
  check ((status in ('starting', 'running')) = (finished_at is null))
) strict;

-- The git worktree of an issue whose workspace isolates its issues. The row stays after the worktree was removed: its branch is still there.
create table worktree (
  issue_id      text primary key references issue (id) on delete cascade,
  company_id    text not null references company (id) on delete cascade,
  workspace_id  text references workspace (id) on delete set null,
  path          text not null,                      -- the folder of the working tree, below the data directory
  cwd           text not null,                      -- where runs work: path, or the folder in it that the workspace names
  git_dir       text not null,                      -- with common_dir: where git keeps the worktree's own state and the repository's
  common_dir    text not null,
  object_format text not null,
  branch        text not null,
  base_commit   text not null,                      -- the branch began here
  is_set_up     integer not null default 0 check (is_set_up in (0, 1)), -- the set-up command has succeeded
  created_at    text not null,
  removed_at    text
) strict;

create index worktree_by_workspace on worktree (workspace_id);

create unique index run_one_live_per_slot on run (agent_id, slot) where finished_at is null;
-- The few that have not ended. finished_at leads, so that SQLite takes these before the indexes of all runs there ever were.
create index run_live on run (finished_at, company_id, id) where finished_at is null;
create index run_live_by_agent on run (finished_at, agent_id, id) where finished_at is null;
create index run_by_company on run (company_id, id);
create index run_by_agent on run (agent_id, id);
create index run_by_issue on run (issue_id, id) where issue_id is not null;
create index run_by_wake on run (wake_id);
create index run_by_end on run (finished_at, id) where finished_at is not null;
create index run_log_unmeasured on run (id) where finished_at is not null and log_bytes is null;
create index run_log_kept on run (finished_at, id, log_bytes) where log_bytes > 0 and log_deleted_at is null;

-- How many runs an agent had on a UTC day, kept by triggers; with the idle ones among them and what those cost.
create table run_total (
  company_id  text not null references company (id) on delete cascade,
  day         text not null,
  agent_id    text not null references agent (id),
  status      text not null check (status in ('starting', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'lost')),
  n           integer not null check (n >= 0),
  idle        integer not null default 0,
  idle_micros integer not null default 0,
  primary key (company_id, day, agent_id, status)
) strict, without rowid;

create index run_total_by_agent on run_total (agent_id);

create trigger run_total_insert after insert on run begin
  insert into run_total (company_id, day, agent_id, status, n)
    values (new.company_id, substr(new.created_at, 1, 10), new.agent_id, new.status, 1)
    on conflict do update set n = n + 1;
end;
create trigger run_total_update after update of status on run when new.status <> old.status begin
  update run_total set n = n - 1
    where company_id = old.company_id and day = substr(old.created_at, 1, 10) and agent_id = old.agent_id and status = old.status;
  insert into run_total (company_id, day, agent_id, status, n)
    values (new.company_id, substr(new.created_at, 1, 10), new.agent_id, new.status, 1)
    on conflict do update set n = n + 1;
end;
-- A run is found idle in the update that ends it, or after it, and never live again.
create trigger run_total_idle after update of idle on run when new.idle = 1 and old.idle is not 1 begin
  insert into run_total (company_id, day, agent_id, status, n, idle, idle_micros)
    values (new.company_id, substr(new.created_at, 1, 10), new.agent_id, new.status, 0, 1,
      (select coalesce(sum(cost_micros), 0) from cost_event where run_id = new.id))
    on conflict do update set idle = idle + 1, idle_micros = idle_micros + excluded.idle_micros;
end;

create table agent_session (
  agent_id     text not null references agent (id) on delete cascade,
  issue_key    text not null,                       -- the issue's id, or '' for work on no issue
  adapter_type text not null,
  session_id   text not null,
  cwd          text not null,                       -- a session is resumed only where it was begun
  instructions_hash text,                           -- a session keeps its instructions: others need a fresh one
  totals       text not null default '{}' check (json_valid(totals)),
  updated_at   text not null,
  primary key (agent_id, issue_key, adapter_type)
) strict, without rowid;

create table cost_event (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  agent_id      text references agent (id),         -- null on a correction of the company's own figure
  issue_id      text,                               -- not a foreign key: what a deleted issue cost stays its cost
  project_id    text references project (id),
  goal_id       text references goal (id),
  run_id        text references run (id),
  billing_code  text,
  provider      text not null,
  model         text not null,
  input_tokens  integer not null default 0,
  cached_input_tokens integer not null default 0,
  output_tokens integer not null default 0,
  cost_micros   integer not null default 0,         -- may be negative: a later report corrects an estimate
  cost_status   text not null check (cost_status in ('reported', 'estimated', 'unpriced')),
  occurred_at   text not null,
  created_at    text not null
) strict;

create index cost_event_by_company on cost_event (company_id, occurred_at);
create index cost_event_by_run on cost_event (run_id) where run_id is not null;
create index cost_event_by_issue on cost_event (issue_id) where issue_id is not null;

create trigger run_total_cost after insert on cost_event when new.run_id is not null begin
  update run_total set idle_micros = idle_micros + new.cost_micros
    where (company_id, day, agent_id, status) in
      (select company_id, substr(created_at, 1, 10), agent_id, status from run where id = new.run_id and idle = 1);
end;

-- Running totals, kept by triggers in the transaction of the events they sum;
-- `period` is a UTC day (2026-11-21) or month (2026-11).
create table cost_total (
  company_id    text not null references company (id) on delete cascade,
  kind          text not null check (kind in ('company', 'agent', 'project', 'issue', 'model')),
  key           text not null,                      -- an id; `provider/model` for a model; '' where there is none
  period        text not null,
  events        integer not null,
  unpriced      integer not null,                   -- events whose price nobody knows
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

-- A run's last word on a model says of all that was booked for it whether its price is known.
create trigger cost_total_status after update of cost_status on cost_event
when (old.cost_status = 'unpriced') <> (new.cost_status = 'unpriced') begin
  update cost_total set unpriced = unpriced + iif(new.cost_status = 'unpriced', 1, -1)
  where company_id = new.company_id
    and period in (substr(new.occurred_at, 1, 10), substr(new.occurred_at, 1, 7))
    and (kind, key) in (values ('company', ''), ('agent', coalesce(new.agent_id, '')), ('project', coalesce(new.project_id, '')),
      ('issue', coalesce(new.issue_id, '')), ('model', new.provider || '/' || new.model));
end;

-- The append-only record of who did what. Each row carries the hash of the one
-- before it in its company, so that none can be altered or removed unseen.
create table activity (
  seq         integer primary key,
  id          text not null unique,
  company_id  text not null references company (id) on delete cascade,
  actor_type  text not null check (actor_type in ('agent', 'user', 'system')),
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
create index activity_by_entity on activity (company_id, entity_id, seq);
create index activity_by_action on activity (company_id, action, seq);
create index activity_by_run on activity (run_id, seq) where run_id is not null;

create trigger activity_is_append_only before update on activity begin
  select raise(abort, 'activity is append-only');
end;

-- Invitations of outside agents. Their tokens and claim secrets are nowhere: only what they hash to.
create table invite (
  id            text primary key,
  company_id    text not null references company (id) on delete cascade,
  token_hash    text not null unique,               -- SHA-256
  message       text,                               -- what the inviter wants the agent to know
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_at    text not null,
  expires_at    text not null,                      -- until then it can be accepted
  accepted_at   text,
  agent_id      text references agent (id),         -- the agent that came of it
  claim_hash    text,                               -- SHA-256
  claim_expires_at text,                            -- until then the agent's key can be claimed
  claimed_at    text,
  revoked_at    text,
  check ((accepted_at is null) = (agent_id is null)),
  check ((accepted_at is null) = (claim_hash is null)),
  check (claimed_at is null or accepted_at is not null)
) strict;

create index invite_by_company on invite (company_id, id);

-- Where the events of a company are sent to (src/runtime/webhook/sender.ts). The
-- activity is the queue: `cursor` is the last activity that deliveries were made of.
create table webhook (
  id             text primary key,
  company_id     text not null references company (id) on delete cascade,
  description    text,
  url            text not null,
  events         text not null check (json_valid(events)), -- patterns of actions: `issue.*`
  secret         text not null,                     -- sealed; signs the deliveries
  status         text not null default 'active' check (status in ('active', 'disabled')),
  disabled_at    text,
  disabled_why   text check (disabled_why in ('board', 'failing', 'gone')),
  failing_since  text,                              -- the first failed attempt after the last delivery
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
  payload         text not null check (json_valid(payload)), -- the body, the same in each attempt
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
  caller      text not null,                        -- whose key it is: keys of two callers never meet
  key         text not null,
  request     text not null,                        -- keyed hash of method, path and body: a body may hold a secret
  status      integer not null,
  answer      text not null,
  created_at  text not null,
  primary key (caller, key)
) strict, without rowid;

create index idempotency_by_age on idempotency (created_at);

-- A template of an issue that comes back: at each moment of its schedule it
-- creates one (src/work/routine/fire.ts).
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
  time_zone         text,                           -- of the cron expression; null is UTC
  interval_sec      integer check (interval_sec >= 60),
  overlap           text not null default 'skip' check (overlap in ('skip', 'queue', 'allow')),
  status            text not null default 'active' check (status in ('active', 'paused')),
  next_due_at       text,
  queued_due_at     text,                           -- the moment that waits for the open issue to be over
  created_by_agent_id text references agent (id),
  created_by_user_id  text,
  created_at        text not null,
  updated_at        text not null,
  check (cron is null or interval_sec is null),     -- with neither it is only run by hand
  check (cron is not null or time_zone is null),
  check ((status = 'active' and (cron is not null or interval_sec is not null)) = (next_due_at is not null)),
  check (status = 'paused' or assignee_agent_id is not null), -- an imported one may still need its assignee
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

-- What became of each moment of a routine; the latest are kept.
create table routine_run (
  id         text primary key,
  company_id text not null references company (id) on delete cascade,
  routine_id text not null references routine (id) on delete cascade,
  source     text not null check (source in ('schedule', 'by_hand')),
  due_at     text not null,
  fired_at   text not null,                         -- later than due_at where nothing could happen at its moment
  outcome    text not null check (outcome in ('created', 'queued', 'skipped')),
  issue_id   text references issue (id) on delete set null,
  reason     text,                                  -- a sentence
  check (issue_id is null or outcome = 'created'),
  check ((outcome = 'created') = (reason is null))
) strict;

create index routine_run_by_company on routine_run (company_id);
create index routine_run_by_routine on routine_run (routine_id, id);
create index routine_run_by_issue on routine_run (issue_id) where issue_id is not null;

-- For deletions: SQLite looks through every table that refers to a row that
-- goes, and without an index it reads the whole of it for each row.
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

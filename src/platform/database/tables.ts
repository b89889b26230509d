// Written by tools/generate-tables.ts from schema.sql: change that, then `npm run tables`.
import type { Generated, GeneratedAlways } from 'kysely'

export interface CompanyTable {
  id: string
  name: string
  description: string | null
  status: Generated<'active' | 'paused' | 'archived'>
  pause_reason: 'manual' | 'budget' | null
  paused_at: string | null
  stopped_at: string | null
  issue_prefix: string
  issue_counter: Generated<number>
  budget_micros: Generated<number>
  require_board_approval_for_new_agents: Generated<0 | 1>
  trust_hires: Generated<0 | 1>
  run_mcp: 0 | 1 | null
  allowed_folders: Generated<string>
  brand_color: string | null
  logo_asset_id: string | null
  created_at: string
  updated_at: string
}

export interface PackagePartTable {
  company_id: string
  path: string
  kind: 'about' | 'team' | 'document' | 'kept'
  content: Uint8Array
}

export interface AuthUserTable {
  id: string
  name: string
  email: string
  email_verified: Generated<0 | 1>
  image: string | null
  may_create_companies: Generated<0 | 1>
  created_at: string
  updated_at: string
}

export interface AuthSessionTable {
  id: string
  user_id: string
  token: string
  expires_at: string
  ip_address: string | null
  user_agent: string | null
  created_at: string
  updated_at: string
}

export interface AuthAccountTable {
  id: string
  user_id: string
  account_id: string
  provider_id: string
  password: string | null
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: string | null
  refresh_token_expires_at: string | null
  scope: string | null
  created_at: string
  updated_at: string
}

export interface AuthVerificationTable {
  id: string
  identifier: string
  value: string
  expires_at: string
  created_at: string
  updated_at: string
}

export interface MembershipTable {
  company_id: string
  user_id: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
  created_at: string
}

export interface InvitationTable {
  id: string
  company_id: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
  hash: string
  invited_by_user_id: string
  created_at: string
  expires_at: string
  accepted_at: string | null
  accepted_by_user_id: string | null
  revoked_at: string | null
}

export interface BoardTokenTable {
  id: string
  user_id: string
  name: string
  prefix: string
  hash: string
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
}

export interface AgentTable {
  id: string
  company_id: string
  name: string
  url_key: string
  role: string
  title: string | null
  icon: string | null
  status: Generated<'idle' | 'paused' | 'error' | 'pending_approval' | 'terminated'>
  reports_to: string | null
  capabilities: string | null
  adapter_type: string
  adapter_config: Generated<string>
  runtime_config: Generated<string>
  desired_skills: Generated<string>
  permissions: Generated<string>
  metadata: string | null
  config_approved: Generated<0 | 1>
  unapproved_paths: Generated<string>
  allowed_once: Generated<string>
  budget_micros: Generated<number>
  pause_reason: 'manual' | 'budget' | 'failures' | 'loop' | null
  pause_message: string | null
  paused_at: string | null
  error_reason: string | null
  failures: Generated<number>
  held_until: string | null
  held_because: string | null
  resumed_at: string | null
  timer_due_at: string | null
  last_heartbeat_at: string | null
  created_at: string
  updated_at: string
}

export interface FreezeTable {
  id: Generated<number>
  reason: string | null
  user_id: string
  created_at: string
}

export interface PlacementTable {
  name: string
  type: 'ssh' | 'slurm' | 'kubernetes'
  settings: Generated<string>
  max_runs: number
  is_default: Generated<0 | 1>
  tunnel_port: number | null
  created_at: string
  updated_at: string
}

export interface AgentKeyTable {
  id: string
  company_id: string
  agent_id: string
  name: string
  prefix: string
  hash: string
  created_at: string
  expires_at: string | null
  scope: Generated<'read' | 'work'>
  last_used_at: string | null
  revoked_at: string | null
}

export interface ConfigRevisionTable {
  id: string
  company_id: string
  agent_id: string
  created_by_agent_id: string | null
  created_by_user_id: string | null
  source: 'create' | 'patch' | 'rollback' | 'hire'
  rolled_back_from_revision_id: string | null
  changed_keys: string
  before_config: string | null
  after_config: string
  created_at: string
}

export interface SecretTable {
  id: string
  company_id: string
  name: string
  description: string | null
  sealed: string
  version: Generated<number>
  created_at: string
  updated_at: string
}

export interface GoalTable {
  id: string
  company_id: string
  title: string
  description: string | null
  level: Generated<'company' | 'team' | 'agent' | 'task'>
  status: Generated<'planned' | 'active' | 'achieved' | 'cancelled'>
  parent_id: string | null
  owner_agent_id: string | null
  created_at: string
  updated_at: string
}

export interface ProjectTable {
  id: string
  company_id: string
  name: string
  url_key: string
  description: string | null
  status: Generated<'backlog' | 'planned' | 'active' | 'in_progress' | 'completed' | 'cancelled'>
  lead_agent_id: string | null
  target_date: string | null
  env: Generated<string>
  placement: string | null
  archived_at: string | null
  created_at: string
  updated_at: string
}

export interface ProjectGoalTable {
  project_id: string
  goal_id: string
  position: number
}

export interface WorkspaceTable {
  id: string
  company_id: string
  project_id: string
  name: string
  cwd: string | null
  cwd_approved: Generated<0 | 1>
  repo_url: string | null
  repo_ref: string | null
  is_primary: 0 | 1
  isolation: Generated<'none' | 'worktree'>
  setup_command: string | null
  cleanup_command: string | null
  created_at: string
  updated_at: string
}

export interface LabelTable {
  id: string
  company_id: string
  name: string
  color: string
  created_at: string
  updated_at: string
}

export interface IssueTable {
  seq: Generated<number>
  id: string
  company_id: string
  issue_number: number
  identifier: string
  title: string
  description: string | null
  status: 'backlog' | 'todo' | 'in_progress' | 'in_review' | 'blocked' | 'done' | 'cancelled'
  priority: Generated<'critical' | 'high' | 'medium' | 'low'>
  priority_rank: GeneratedAlways<number>
  assignee_agent_id: string | null
  assignee_user_id: string | null
  assigned_by_type: 'agent' | 'user' | 'system' | null
  assigned_by_id: string | null
  assigned_at: string | null
  parent_id: string | null
  project_id: string | null
  goal_id: string | null
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_by_run_id: string | null
  request_depth: Generated<number>
  billing_code: string | null
  started_at: string | null
  completed_at: string | null
  cancelled_at: string | null
  created_at: string
  updated_at: string
}

export interface IssueCountTable {
  company_id: string
  status: 'backlog' | 'todo' | 'in_progress' | 'in_review' | 'blocked' | 'done' | 'cancelled'
  n: number
}

export interface IssueLabelTable {
  issue_id: string
  label_id: string
}

export interface IssueBlockerTable {
  issue_id: string
  blocker_id: string
}

export interface CommentTable {
  seq: Generated<number>
  id: string
  company_id: string
  issue_seq: number
  author_type: 'agent' | 'user' | 'system'
  author_agent_id: string | null
  author_user_id: string | null
  created_by_run_id: string | null
  body: string
  created_at: string
  updated_at: string
}

export interface MentionTable {
  comment_id: string
  user_id: string
  company_id: string
}

export interface InboxStateTable {
  user_id: string
  item_id: string
  company_id: string
  item_at: string
  read_at: string | null
  dismissed_at: string | null
}

export interface IssueReadTable {
  user_id: string
  issue_id: string
  activity_seq: number
}

export interface IssueTextPendingTable {
  seq: Generated<number>
}

export interface CommentTextPendingTable {
  seq: Generated<number>
}

export interface SkillTable {
  id: string
  company_id: string
  key: string
  slug: string
  name: string
  description: string | null
  source_type: 'bundled' | 'inline' | 'local_path' | 'github'
  source_locator: string | null
  source_ref: string | null
  trust_level: 'markdown_only' | 'assets' | 'scripts_executables'
  file_inventory: string
  digest: string
  is_reference: Generated<0 | 1>
  created_at: string
  updated_at: string
}

export interface SkillFileTable {
  skill_id: string
  path: string
  content: Uint8Array
}

export interface AssetTable {
  id: string
  company_id: string
  file_name: string
  content_type: string
  bytes: number
  sha256: string
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_by_run_id: string | null
  created_at: string
}

export interface LeftoverTable {
  folder: 'agents' | 'assets' | 'runs' | 'skills'
  id: string
}

export interface AttachmentTable {
  id: string
  company_id: string
  issue_id: string
  asset_id: string
  created_at: string
}

export interface DocumentTable {
  id: string
  company_id: string
  issue_id: string
  key: string
  latest_number: number
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_at: string
}

export interface DocumentRevisionTable {
  id: string
  company_id: string
  document_id: string
  number: number
  title: string | null
  format: 'markdown'
  body: string
  change_summary: string | null
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_by_run_id: string | null
  created_at: string
}

export interface InteractionTable {
  id: string
  company_id: string
  issue_id: string
  kind: 'question' | 'confirm' | 'choose' | 'suggest_tasks'
  status: Generated<'pending' | 'answered' | 'cancelled'>
  asked: string
  answer: string | null
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_by_run_id: string | null
  answered_by_user_id: string | null
  answered_at: string | null
  created_at: string
  updated_at: string
}

export interface ApprovalTable {
  id: string
  company_id: string
  type: 'hire_agent' | 'approve_ceo_strategy' | 'request_board_approval' | 'allow_folder'
  status: Generated<'pending' | 'revision_requested' | 'approved' | 'rejected' | 'cancelled'>
  requested_by_agent_id: string | null
  requested_by_user_id: string | null
  agent_id: string | null
  payload: Generated<string>
  chosen_option: string | null
  decision_note: string | null
  decided_by_user_id: string | null
  decided_at: string | null
  created_at: string
  updated_at: string
}

export interface ApprovalIssueTable {
  approval_id: string
  issue_id: string
}

export interface ApprovalCommentTable {
  id: string
  company_id: string
  approval_id: string
  author_type: 'agent' | 'user' | 'system'
  author_agent_id: string | null
  author_user_id: string | null
  created_by_run_id: string | null
  body: string
  created_at: string
  updated_at: string
}

export interface WakeTable {
  id: string
  company_id: string
  agent_id: string
  status: Generated<'waiting' | 'claimed' | 'dropped'>
  reasons: string
  issue_id: string | null
  priority: Generated<number>
  not_before: string | null
  retry_of_run_id: string | null
  fresh_session: Generated<0 | 1>
  depth: Generated<number>
  dropped_reason: string | null
  created_at: string
  updated_at: string
}

export interface RunTable {
  id: string
  company_id: string
  agent_id: string
  wake_id: string | null
  status: 'starting' | 'running' | 'succeeded' | 'failed' | 'timed_out' | 'cancelled' | 'lost'
  slot: Generated<number>
  source:
    | 'timer'
    | 'on_demand'
    | 'issue_assigned'
    | 'issue_commented'
    | 'mention'
    | 'approval_resolved'
    | 'blockers_resolved'
    | 'children_done'
    | 'retry'
  reasons: string
  issue_id: string | null
  adapter_type: string
  retry_of_run_id: string | null
  depth: Generated<number>
  stop_reason: 'cancelled' | 'closed' | 'paused' | 'terminated' | 'budget' | 'shutdown' | 'stopped' | null
  pid: number | null
  pid_started: string | null
  boot_id: string | null
  placement: string | null
  job_id: string | null
  job_node: string | null
  job_waiting: string | null
  cwd: string | null
  instructions_hash: string | null
  grace_sec: number | null
  timeout_sec: number | null
  silence_sec: number | null
  session_id_before: string | null
  session_id_after: string | null
  exit_code: number | null
  signal: string | null
  error: string | null
  error_code: string | null
  summary: string | null
  retrying: string | null
  refused_tools: Generated<number>
  git_head: string | null
  changes: string | null
  idle: 0 | 1 | null
  created_at: string
  started_at: string | null
  finished_at: string | null
  log_bytes: number | null
  log_deleted_at: string | null
}

export interface WorktreeTable {
  issue_id: string
  company_id: string
  workspace_id: string | null
  path: string
  cwd: string
  git_dir: string
  common_dir: string
  object_format: string
  branch: string
  base_commit: string
  is_set_up: Generated<0 | 1>
  is_sandboxed: Generated<0 | 1>
  created_at: string
  removed_at: string | null
}

export interface RunTotalTable {
  company_id: string
  day: string
  agent_id: string
  adapter_type: string
  status: 'starting' | 'running' | 'succeeded' | 'failed' | 'timed_out' | 'cancelled' | 'lost'
  n: number
  idle: Generated<number>
  idle_micros: Generated<number>
}

export interface CompanyRunTotalTable {
  company_id: string
  day: string
  adapter_type: string
  status: 'starting' | 'running' | 'succeeded' | 'failed' | 'timed_out' | 'cancelled' | 'lost'
  n: number
  idle: number
  idle_micros: number
}

export interface AgentSessionTable {
  agent_id: string
  issue_key: string
  adapter_type: string
  session_id: string
  cwd: string
  instructions_hash: string | null
  totals: Generated<string>
  updated_at: string
}

export interface CostEventTable {
  id: string
  company_id: string
  agent_id: string | null
  issue_id: string | null
  project_id: string | null
  goal_id: string | null
  run_id: string | null
  billing_code: string | null
  provider: string
  model: string
  input_tokens: Generated<number>
  cached_input_tokens: Generated<number>
  output_tokens: Generated<number>
  cost_micros: Generated<number>
  cost_status: 'reported' | 'estimated' | 'unpriced'
  occurred_at: string
  created_at: string
}

export interface CostTotalTable {
  company_id: string
  kind: 'company' | 'agent' | 'project' | 'issue' | 'model'
  key: string
  period: string
  events: number
  unpriced: number
  input_tokens: number
  cached_input_tokens: number
  output_tokens: number
  cost_micros: number
}

export interface ActivityTable {
  seq: Generated<number>
  id: string
  company_id: string
  actor_type: 'agent' | 'user' | 'system'
  actor_id: string
  action: string
  entity_type: string
  entity_id: string
  agent_id: string | null
  run_id: string | null
  details: string | null
  created_at: string
  previous_hash: string
  hash: string
}

export interface InviteTable {
  id: string
  company_id: string
  token_hash: string
  message: string | null
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_at: string
  expires_at: string
  accepted_at: string | null
  agent_id: string | null
  claim_hash: string | null
  claim_expires_at: string | null
  claimed_at: string | null
  revoked_at: string | null
}

export interface WebhookTable {
  id: string
  company_id: string
  description: string | null
  url: string
  events: string
  secret: string
  status: Generated<'active' | 'disabled'>
  disabled_at: string | null
  disabled_why: 'board' | 'failing' | 'gone' | null
  failing_since: string | null
  cursor: number
  created_at: string
  updated_at: string
}

export interface WebhookDeliveryTable {
  id: string
  webhook_id: string
  company_id: string
  event: string
  payload: string
  status: Generated<'pending' | 'delivered' | 'failed'>
  attempts: Generated<number>
  next_attempt_at: string | null
  response_status: number | null
  error: string | null
  duration_ms: number | null
  created_at: string
  updated_at: string
}

export interface IdempotencyTable {
  caller: string
  key: string
  request: string
  status: number
  response: string
  created_at: string
}

export interface RoutineTable {
  id: string
  company_id: string
  title: string
  description: string | null
  priority: Generated<'critical' | 'high' | 'medium' | 'low'>
  project_id: string | null
  goal_id: string | null
  parent_id: string | null
  assignee_agent_id: string | null
  cron: string | null
  time_zone: string | null
  interval_sec: number | null
  overlap: Generated<'skip' | 'queue' | 'allow'>
  status: Generated<'active' | 'paused'>
  next_due_at: string | null
  queued_due_at: string | null
  created_by_agent_id: string | null
  created_by_user_id: string | null
  created_at: string
  updated_at: string
}

export interface RoutineLabelTable {
  routine_id: string
  label_id: string
}

export interface RoutineRunTable {
  id: string
  company_id: string
  routine_id: string
  source: 'schedule' | 'by_hand'
  due_at: string
  fired_at: string
  outcome: 'created' | 'queued' | 'skipped'
  issue_id: string | null
  reason: string | null
}

export interface Tables {
  company: CompanyTable
  package_part: PackagePartTable
  auth_user: AuthUserTable
  auth_session: AuthSessionTable
  auth_account: AuthAccountTable
  auth_verification: AuthVerificationTable
  membership: MembershipTable
  invitation: InvitationTable
  board_token: BoardTokenTable
  agent: AgentTable
  freeze: FreezeTable
  placement: PlacementTable
  agent_key: AgentKeyTable
  config_revision: ConfigRevisionTable
  secret: SecretTable
  goal: GoalTable
  project: ProjectTable
  project_goal: ProjectGoalTable
  workspace: WorkspaceTable
  label: LabelTable
  issue: IssueTable
  issue_count: IssueCountTable
  issue_label: IssueLabelTable
  issue_blocker: IssueBlockerTable
  comment: CommentTable
  mention: MentionTable
  inbox_state: InboxStateTable
  issue_read: IssueReadTable
  issue_text_pending: IssueTextPendingTable
  comment_text_pending: CommentTextPendingTable
  skill: SkillTable
  skill_file: SkillFileTable
  asset: AssetTable
  leftover: LeftoverTable
  attachment: AttachmentTable
  document: DocumentTable
  document_revision: DocumentRevisionTable
  interaction: InteractionTable
  approval: ApprovalTable
  approval_issue: ApprovalIssueTable
  approval_comment: ApprovalCommentTable
  wake: WakeTable
  run: RunTable
  worktree: WorktreeTable
  run_total: RunTotalTable
  company_run_total: CompanyRunTotalTable
  agent_session: AgentSessionTable
  cost_event: CostEventTable
  cost_total: CostTotalTable
  activity: ActivityTable
  invite: InviteTable
  webhook: WebhookTable
  webhook_delivery: WebhookDeliveryTable
  idempotency: IdempotencyTable
  routine: RoutineTable
  routine_label: RoutineLabelTable
  routine_run: RoutineRunTable
  issue_text: { rowid: number; issue_text: string }
  comment_text: { rowid: number; comment_text: string }
  issue_word: { term: string }
  comment_word: { term: string }
}

import type { GenericSchema } from 'valibot'
import { Activity } from '../../access/activity/routes.ts'
import { Invitation, InvitationWithLink, NewInvitation } from '../../access/board/invitation.ts'
import { Member } from '../../access/board/member.ts'
import { Token as BoardToken, NewToken as NewBoardToken } from '../../access/board/token.ts'
import { NewSecret, NewValue as NewSecretValue, Secret, SecretUse, SecretWithUses } from '../../access/secret/secret.ts'
import { SecretReference } from '../../adapter/config.ts'
import { FileContent } from '../../http/file-content.ts'
import { Agent, AgentChange, AgentDetail, NewAgent, Permissions } from '../../organization/agent/agent.ts'
import { Revision as ConfigRevision } from '../../organization/agent/configuration.ts'
import { InstructionsPath, InstructionsPathChange } from '../../organization/agent/instructions-path.ts'
import { Key as AgentKey, NewKey as NewAgentKey } from '../../organization/agent/keys.ts'
import { OrgNode } from '../../organization/agent/org.ts'
import { RuntimeConfig } from '../../organization/agent/runtime-config.ts'
import { RuntimeState } from '../../organization/agent/runtime-state.ts'
import { SkillSync, SyncedSkills } from '../../organization/agent-skill/sync.ts'
import { Asset } from '../../organization/asset/asset.ts'
import {
  Company,
  BrandingChange as CompanyBrandingChange,
  BudgetChange as CompanyBudgetChange,
  CompanyChange,
  NewCompany,
} from '../../organization/company/company.ts'
import {
  CostEvent,
  CostOfAgent,
  CostOfDay,
  CostOfIssue,
  CostOfModel,
  CostOfProject,
  CostOfProvider,
  CostSummary,
  NewCostEvent,
} from '../../organization/cost/cost.ts'
import { Run } from '../../organization/run/run.ts'
import { FetchedSkills } from '../../organization/skill/fetch.ts'
import { SkillImport, SkillImportResult } from '../../organization/skill/import-body.ts'
import { Skill, SkillDetail, SkillFile } from '../../organization/skill/skill.ts'
import { Reason as WakeReason } from '../../organization/wake/wake.ts'
import { ExportedPackage, ExportPreview, ExportBody as ExportRequest } from '../../portability/export/export-body.ts'
import { ImportPlan, ImportBody as ImportRequest } from '../../portability/plan/import-body.ts'
import { Include as PackageInclude } from '../../portability/read/include.ts'
import { Template as CompanyTemplate } from '../../portability/read/templates.ts'
import { PackageSource } from '../../portability/source/source-body.ts'
import { PackageWarning } from '../../portability/source/warning.ts'
import { Rehearsal } from '../../runtime/rehearsal/rehearse.ts'
import { RunEvent } from '../../runtime/run-log/run-events.ts'
import { StartCondition } from '../../runtime/scheduler/start-conditions.ts'
import { Why, Step as WhyStep } from '../../runtime/why/routes.ts'
import {
  Approval,
  ApprovalComment,
  Decision as ApprovalDecision,
  Resubmission as ApprovalResubmission,
  LinkedIssue,
  NewApproval,
  NewApprovalComment,
} from '../../work/approval/approval.ts'
import { Attachment } from '../../work/attachment/attachment.ts'
import { HeartbeatContext } from '../../work/briefing/heartbeat-context.ts'
import { InboxItem as AgentInboxItem, OpenApproval } from '../../work/briefing/inbox.ts'
import { Comment, CreatedComment, NewComment } from '../../work/comment/comment.ts'
import { CompanyStats } from '../../work/dashboard/company-stats.ts'
import { Dashboard } from '../../work/dashboard/dashboard.ts'
import {
  Document,
  DocumentChange,
  Revision as DocumentRevision,
  RevisionSummary as DocumentRevisionSummary,
  DocumentSummary,
} from '../../work/document/document.ts'
import { Goal, GoalChange, NewGoal } from '../../work/goal/goal.ts'
import { InboxItem } from '../../work/inbox/inbox.ts'
import { Interaction, AnswerBody as InteractionAnswer, NewInteraction } from '../../work/interaction/interaction.ts'
import {
  Accepted as AcceptedInvite,
  Claimed as ClaimedKey,
  Invite,
  Acceptance as InviteAcceptance,
  InvitePrompt,
  Claim as KeyClaim,
  NewInvite,
} from '../../work/invite/invite.ts'
import { Ancestor as IssueAncestor } from '../../work/issue/context.ts'
import { IssueDetail } from '../../work/issue/detail.ts'
import {
  ForcedRelease,
  Issue,
  IssueChange,
  CheckoutBody as IssueCheckout,
  CloseBody as IssueClose,
  IssueReference,
  NewChild,
  NewIssue,
} from '../../work/issue/issue.ts'
import { Label, LabelChange, NewLabel } from '../../work/label/label.ts'
import { NewProject, Project, ProjectChange } from '../../work/project/project.ts'
import { NewWorkspace, Workspace, WorkspaceChange } from '../../work/project/workspace.ts'
import { NewRoutine, Routine, RoutineChange, RoutineRun } from '../../work/routine/routine.ts'
import { Found as SearchResult } from '../../work/search/search.ts'

/** The named schemas of the OpenAPI document. Other schemas are inline, or named after their operation. */
export const COMPONENTS: Record<string, GenericSchema> = {
  AcceptedInvite,
  Activity,
  Agent,
  AgentChange,
  AgentDetail,
  AgentInboxItem,
  AgentKey,
  Approval,
  ApprovalComment,
  ApprovalDecision,
  ApprovalResubmission,
  Asset,
  Attachment,
  BoardToken,
  ClaimedKey,
  Comment,
  Company,
  CompanyBrandingChange,
  CompanyBudgetChange,
  CompanyChange,
  CompanyStats,
  CompanyTemplate,
  ConfigRevision,
  CostEvent,
  CostOfAgent,
  CostOfDay,
  CostOfIssue,
  CostOfModel,
  CostOfProject,
  CostOfProvider,
  CostSummary,
  CreatedComment,
  Dashboard,
  Document,
  DocumentChange,
  DocumentRevision,
  DocumentRevisionSummary,
  DocumentSummary,
  ExportPreview,
  ExportRequest,
  ExportedPackage,
  FetchedSkills,
  FileContent,
  ForcedRelease,
  Goal,
  GoalChange,
  HeartbeatContext,
  ImportPlan,
  ImportRequest,
  InboxItem,
  InstructionsPath,
  InstructionsPathChange,
  Interaction,
  InteractionAnswer,
  Invitation,
  InvitationWithLink,
  Invite,
  InviteAcceptance,
  InvitePrompt,
  Issue,
  IssueAncestor,
  IssueChange,
  IssueCheckout,
  IssueClose,
  IssueDetail,
  IssueReference,
  KeyClaim,
  Label,
  LabelChange,
  LinkedIssue,
  Member,
  NewAgent,
  NewAgentKey,
  NewApproval,
  NewApprovalComment,
  NewBoardToken,
  NewChild,
  NewComment,
  NewCompany,
  NewCostEvent,
  NewGoal,
  NewInteraction,
  NewInvitation,
  NewInvite,
  NewIssue,
  NewLabel,
  NewProject,
  NewRoutine,
  NewSecret,
  NewSecretValue,
  NewWorkspace,
  OpenApproval,
  OrgNode,
  PackageInclude,
  PackageSource,
  PackageWarning,
  Permissions,
  Project,
  ProjectChange,
  Rehearsal,
  Routine,
  RoutineChange,
  RoutineRun,
  Run,
  RunEvent,
  RuntimeConfig,
  RuntimeState,
  SearchResult,
  Secret,
  SecretReference,
  SecretUse,
  SecretWithUses,
  Skill,
  SkillDetail,
  SkillFile,
  SkillImport,
  SkillImportResult,
  SkillSync,
  StartCondition,
  SyncedSkills,
  WakeReason,
  Why,
  WhyStep,
  Workspace,
  WorkspaceChange,
}

import type { Received } from './api.ts'

/** The response types of the API that the page uses. */
export type Company = Received<'GET /api/companies'>[number]
export type Agent = Received<'GET /api/companies/:companyId/agents'>[number]
export type Issue = Received<'GET /api/companies/:companyId/issues'>[number]
export type IssueDetail = Received<'GET /api/issues/:issueId'>
export type Comment = Received<'GET /api/issues/:issueId/comments'>[number]
export type Run = Received<'GET /api/companies/:companyId/runs'>[number]
export type Approval = Received<'GET /api/companies/:companyId/approvals'>[number]
export type Project = Received<'GET /api/companies/:companyId/projects'>[number]
export type Goal = Received<'GET /api/companies/:companyId/goals'>[number]
export type Label = Received<'GET /api/companies/:companyId/labels'>[number]
export type Member = Received<'GET /api/companies/:companyId/members'>[number]
export type Activity = Received<'GET /api/companies/:companyId/activity'>[number]
export type Instance = Received<'GET /api/instance'>
export type Session = Received<'GET /api/auth/session'>
export type Dashboard = Received<'GET /api/companies/:companyId/dashboard'>
export type Template = Received<'GET /api/templates'>[number]
export type Program = Received<'GET /api/instance/programs'>[number]

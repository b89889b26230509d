import activity from 'lucide-static/icons/activity.svg'
import agents from 'lucide-static/icons/bot.svg'
import costs from 'lucide-static/icons/circle-dollar-sign.svg'
import issues from 'lucide-static/icons/circle-dot.svg'
import projects from 'lucide-static/icons/folder.svg'
import inbox from 'lucide-static/icons/inbox.svg'
import dashboard from 'lucide-static/icons/layout-dashboard.svg'
import org from 'lucide-static/icons/network.svg'
import routines from 'lucide-static/icons/repeat.svg'
import settings from 'lucide-static/icons/settings.svg'
import runs from 'lucide-static/icons/square-play.svg'
import goals from 'lucide-static/icons/target.svg'
import type { ComponentType } from 'preact'
import { lazy } from 'preact-iso'
import { whenIdle } from '../state/idle.ts'

/** A page and its address below the company's address. `:name` is a parameter. */
export interface PageRoute {
  path: string
  component: ComponentType
}

/** All pages. Add a new page here, and to NAVIGATION if the sidebar displays it. */
export const PAGES: readonly PageRoute[] = [
  { path: 'agents', component: lazy(() => import('../pages/agents/agents-page.tsx').then((m) => m.AgentsPage)) },
  {
    path: 'agents/:agentRef',
    component: lazy(() => import('../pages/agents/agent-page.tsx').then((m) => m.AgentPage)),
  },
  { path: 'inbox', component: lazy(() => import('../pages/inbox/inbox-page.tsx').then((m) => m.InboxPage)) },
  { path: 'issues', component: lazy(() => import('../pages/issues/issues-page.tsx').then((m) => m.IssuesPage)) },
  { path: 'issues/:issueRef', component: lazy(() => import('../pages/issue/issue-page.tsx').then((m) => m.IssuePage)) },
  { path: 'runs', component: lazy(() => import('../pages/runs/runs-page.tsx').then((m) => m.RunsPage)) },
  { path: 'runs/:runId', component: lazy(() => import('../pages/run/run-page.tsx').then((m) => m.RunPage)) },
  {
    path: 'dashboard',
    component: lazy(() => import('../pages/dashboard/dashboard-page.tsx').then((m) => m.DashboardPage)),
  },
  { path: 'costs', component: lazy(() => import('../pages/costs/costs-page.tsx').then((m) => m.CostsPage)) },
  {
    path: 'activity',
    component: lazy(() => import('../pages/activity/activity-page.tsx').then((m) => m.ActivityPage)),
  },
  {
    path: 'approvals',
    component: lazy(() => import('../pages/approvals/approvals-page.tsx').then((m) => m.ApprovalsPage)),
  },
  { path: 'org', component: lazy(() => import('../pages/org/org-page.tsx').then((m) => m.OrgPage)) },
  { path: 'goals', component: lazy(() => import('../pages/goals/goals-page.tsx').then((m) => m.GoalsPage)) },
  { path: 'goals/:goalId', component: lazy(() => import('../pages/goals/goal-page.tsx').then((m) => m.GoalPage)) },
  {
    path: 'projects',
    component: lazy(() => import('../pages/projects/projects-page.tsx').then((m) => m.ProjectsPage)),
  },
  {
    path: 'projects/:projectId',
    component: lazy(() => import('../pages/projects/project-page.tsx').then((m) => m.ProjectPage)),
  },
  {
    path: 'routines',
    component: lazy(() => import('../pages/routines/routines-page.tsx').then((m) => m.RoutinesPage)),
  },
  { path: 'skills', component: lazy(() => import('../pages/skills/skills-page.tsx').then((m) => m.SkillsPage)) },
  { path: 'secrets', component: lazy(() => import('../pages/secrets/secrets-page.tsx').then((m) => m.SecretsPage)) },
  { path: 'members', component: lazy(() => import('../pages/members/members-page.tsx').then((m) => m.MembersPage)) },
  {
    path: 'webhooks',
    component: lazy(() => import('../pages/webhooks/webhooks-page.tsx').then((m) => m.WebhooksPage)),
  },
  {
    path: 'webhooks/:webhookId',
    component: lazy(() => import('../pages/webhooks/webhook-page.tsx').then((m) => m.WebhookPage)),
  },
  {
    path: 'placements',
    component: lazy(() => import('../pages/placements/placements-page.tsx').then((m) => m.PlacementsPage)),
  },
  {
    path: 'settings',
    component: lazy(() => import('../pages/settings/settings-page.tsx').then((m) => m.SettingsPage)),
  },
  { path: 'import', component: lazy(() => import('../pages/package/import-page.tsx').then((m) => m.ImportPage)) },
  { path: 'export', component: lazy(() => import('../pages/package/export-page.tsx').then((m) => m.ExportPage)) },
]

interface Loadable {
  preload?: () => Promise<unknown>
}

/** Loads the code of the page at an address. */
export async function preloadPage(pathname: string): Promise<void> {
  const address = pathname.split('/').slice(2)
  const page = PAGES.find(({ path }) => {
    const parts = path.split('/')
    return parts.length === address.length && parts.every((part, at) => part.startsWith(':') || part === address[at])
  })
  await (page?.component as Loadable | undefined)?.preload?.()
}

/** Preloads the code of all pages while the browser is idle. */
export function preloadPages(): void {
  const [next, ...rest] = PAGES.map(({ component }) => component as Loadable)
  const load = async (page: typeof next, others: typeof rest): Promise<void> => {
    await page?.preload?.()
    const [following, ...left] = others
    if (following) whenIdle(() => void load(following, left))
  }
  whenIdle(() => void load(next, rest))
}

export interface Place {
  path: string
  title: string
  icon: string
  /** The letter of the shortcut, after `g`. */
  key: string
  /** Whether the bottom bar of a phone contains it. The other pages are under More. */
  isMain?: boolean
}

/** The pages in the sidebar. */
export const NAVIGATION: readonly Place[] = [
  { path: 'inbox', title: 'Inbox', icon: inbox, key: 'i', isMain: true },
  { path: 'dashboard', title: 'Dashboard', icon: dashboard, key: 'd' },
  { path: 'issues', title: 'Issues', icon: issues, key: 's', isMain: true },
  { path: 'agents', title: 'Agents', icon: agents, key: 'a', isMain: true },
  { path: 'runs', title: 'Runs', icon: runs, key: 'r', isMain: true },
  { path: 'org', title: 'Org', icon: org, key: 'o' },
  { path: 'goals', title: 'Goals', icon: goals, key: 'l' },
  { path: 'projects', title: 'Projects', icon: projects, key: 'p' },
  { path: 'routines', title: 'Routines', icon: routines, key: 't' },
  { path: 'costs', title: 'Costs', icon: costs, key: 'c' },
  { path: 'activity', title: 'Activity', icon: activity, key: 'y' },
  { path: 'settings', title: 'Settings', icon: settings, key: 'e' },
]

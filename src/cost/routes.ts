import * as v from 'valibot'
import { findCompany } from '../company/queries.ts'
import type { Context } from '../context.ts'
import { route } from '../http/route.ts'
import { agent, board } from '../http/who.ts'
import { bookCostEvent, toCostEvent } from './book.ts'
import {
  CostEvent,
  CostOfAgent,
  CostOfDay,
  CostOfIssue,
  CostOfModel,
  CostOfProject,
  CostSummary,
  NewCostEvent,
} from './cost.ts'
import { toCents } from './money.ts'
import { countRunsByAgent, listNames } from './queries.ts'
import { type Days, daysOf, NOTHING, sumTotals, type TotalKind, toFigures } from './totals.ts'

const DAYS = v.object({
  from: v.optional(
    v.pipe(v.string(), v.description('The first UTC day, like 2026-11-01. Default: the first of this month.')),
  ),
  to: v.optional(v.pipe(v.string(), v.description('The last UTC day. Default: today.'))),
})

const grouped = (ctx: Context, companyId: string, kind: TotalKind, days: Days) =>
  sumTotals(ctx.db, { companyId, kind, by: 'key', ...days })

export const costRoutes = [
  route({
    id: 'costs.report',
    method: 'POST',
    path: '/api/companies/:companyId/cost-events',
    summary: 'Report a cost',
    who: [board, agent],
    body: NewCostEvent,
    answers: { 201: CostEvent },
    run: (ctx, { caller, params, body }) =>
      ctx.write(() => toCostEvent(bookCostEvent(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'costs.summary',
    method: 'GET',
    path: '/api/companies/:companyId/costs/summary',
    summary: 'Sum up what a company spent',
    who: [board, agent],
    query: DAYS,
    answers: { 200: CostSummary },
    run: (ctx, { params, query }) => {
      const days = daysOf(query, ctx.now)
      const figures = toFigures(grouped(ctx, params.companyId, 'company', days)[0] ?? NOTHING)
      const budgetCents = toCents(findCompany(ctx.db, { id: params.companyId })!.budget_micros)
      const utilizationPercent = budgetCents === 0 ? 0 : Math.round((figures.costCents / budgetCents) * 10_000) / 100
      return {
        companyId: params.companyId,
        ...days,
        spendCents: figures.costCents,
        budgetCents,
        utilizationPercent,
        ...figures,
      }
    },
  }),
  route({
    id: 'costs.byAgent',
    method: 'GET',
    path: '/api/companies/:companyId/costs/by-agent',
    summary: 'Sum up what each agent spent, the most first',
    who: [board, agent],
    query: DAYS,
    answers: { 200: v.array(CostOfAgent) },
    run: (ctx, { params, query }) => {
      const days = daysOf(query, ctx.now)
      const totals = grouped(ctx, params.companyId, 'agent', days)
      const names = listNames(ctx.db, 'agent', keysOf(totals))
      const runs = countRunsByAgent(ctx.db, { companyId: params.companyId, ...days })
      return totals.map((total) => ({
        agentId: total.key || null,
        agentName: names.get(total.key)?.name ?? null,
        agentStatus: names.get(total.key)?.status ?? null,
        runCount: runs.get(total.key) ?? 0,
        ...toFigures(total),
      }))
    },
  }),
  route({
    id: 'costs.byProject',
    method: 'GET',
    path: '/api/companies/:companyId/costs/by-project',
    summary: 'Sum up what was spent on each project, the most first',
    who: [board, agent],
    query: DAYS,
    answers: { 200: v.array(CostOfProject) },
    run: (ctx, { params, query }) => {
      const totals = grouped(ctx, params.companyId, 'project', daysOf(query, ctx.now))
      const names = listNames(ctx.db, 'project', keysOf(totals))
      return totals.map((total) => ({
        projectId: total.key || null,
        projectName: names.get(total.key)?.name ?? null,
        ...toFigures(total),
      }))
    },
  }),
  route({
    id: 'costs.byIssue',
    method: 'GET',
    path: '/api/companies/:companyId/costs/by-issue',
    summary: 'Sum up what was spent on each issue, the most first',
    who: [board, agent],
    query: DAYS,
    answers: { 200: v.array(CostOfIssue) },
    run: (ctx, { params, query }) => {
      const totals = grouped(ctx, params.companyId, 'issue', daysOf(query, ctx.now))
      const names = listNames(ctx.db, 'issue', keysOf(totals))
      return totals.map((total) => ({
        issueId: total.key || null,
        identifier: names.get(total.key)?.identifier ?? null,
        title: names.get(total.key)?.name ?? null,
        ...toFigures(total),
      }))
    },
  }),
  route({
    id: 'costs.byModel',
    method: 'GET',
    path: '/api/companies/:companyId/costs/by-model',
    summary: 'Sum up what was spent on each model, the most first',
    who: [board, agent],
    query: DAYS,
    answers: { 200: v.array(CostOfModel) },
    run: (ctx, { params, query }) =>
      grouped(ctx, params.companyId, 'model', daysOf(query, ctx.now)).map((total) => {
        const [provider = '', ...model] = total.key.split('/')
        return { provider, model: model.join('/'), ...toFigures(total) }
      }),
  }),
  route({
    id: 'costs.byDay',
    method: 'GET',
    path: '/api/companies/:companyId/costs/by-day',
    summary: 'Sum up what was spent on each UTC day, the earliest first',
    who: [board, agent],
    query: DAYS,
    answers: { 200: v.array(CostOfDay) },
    run: (ctx, { params, query }) => {
      const days = daysOf(query, ctx.now)
      const totals = sumTotals(ctx.db, { companyId: params.companyId, kind: 'company', by: 'period', ...days })
      return totals.map((total) => ({ date: total.key, ...toFigures(total) }))
    },
  }),
]

const keysOf = (totals: readonly { key: string }[]) => totals.flatMap((total) => total.key || [])

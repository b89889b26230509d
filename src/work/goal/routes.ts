import * as v from 'valibot'
import { agent, board, ceo } from '../../access/caller/who.ts'
import { route } from '../../access/route.ts'
import { createGoal, deleteGoal, getGoal, updateGoal } from './change.ts'
import { Goal, GoalChange, NewGoal, toGoal } from './goal.ts'
import { inTreeOrder } from './hierarchy.ts'
import { listGoals } from './queries.ts'

/** Any agent may change goals: the contract does not forbid it, and the org tree is not access control. */
export const goalRoutes = [
  route({
    id: 'goals.list',
    method: 'GET',
    path: '/api/companies/:companyId/goals',
    summary: "List a company's whole goal hierarchy, each goal after its parent",
    who: [board, agent],
    responses: { 200: v.array(Goal) },
    run: (ctx, { params }) => inTreeOrder(listGoals(ctx.db, { companyId: params.companyId })).map(toGoal),
  }),
  route({
    id: 'goals.create',
    method: 'POST',
    path: '/api/companies/:companyId/goals',
    summary: 'Create a goal',
    who: [board, agent],
    role: 'member',
    body: NewGoal,
    responses: { 201: Goal },
    run: (ctx, { caller, params, body }) => ctx.write(() => toGoal(createGoal(ctx, caller, params.companyId, body))),
  }),
  route({
    id: 'goals.get',
    method: 'GET',
    path: '/api/goals/:goalId',
    summary: 'Get a goal',
    who: [board, agent],
    responses: { 200: Goal },
    run: (ctx, { caller, params }) => toGoal(getGoal(ctx, caller, params.goalId)),
  }),
  route({
    id: 'goals.update',
    method: 'PATCH',
    path: '/api/goals/:goalId',
    summary: 'Change a goal',
    who: [board, agent],
    role: 'member',
    body: GoalChange,
    responses: { 200: Goal },
    run: (ctx, { caller, params, body }) => ctx.write(() => toGoal(updateGoal(ctx, caller, params.goalId, body))),
  }),
  route({
    id: 'goals.delete',
    method: 'DELETE',
    path: '/api/goals/:goalId',
    summary: 'Delete a goal that nothing refers to',
    who: [board, ceo],
    role: 'member',
    responses: { 200: Goal },
    run: (ctx, { caller, params }) => ctx.write(() => toGoal(deleteGoal(ctx, caller, params.goalId))),
  }),
]

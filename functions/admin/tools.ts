import * as z from 'zod'
import { anyKey } from '../../lib/http/access.ts'
import { appOf, handlerOf } from '../../lib/http/app.ts'
import { endpoint, reply } from '../../lib/http/endpoint.ts'
import { Category, presentTool, ToolView } from '../../lib/http/present-tool.ts'
import { ToolName } from '../../lib/http/wire.ts'
import { allTools, getTool } from '../../lib/tool/registry.ts'
import { tools } from '../tools/index.ts'

const tag = 'Tools'

export const endpoints = {
  listTools: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tools',
      tag,
      summary: 'List the tools',
      description: 'All of them, with their operations, parameters and settings.',
      access: anyKey,
      query: z.object({ category: Category.optional() }),
      responses: { 200: z.array(ToolView) },
    },
    async ({ query: { category } }) => {
      const all = await allTools(tools)
      const asked = all.filter(tool => category === undefined || tool.category === category)
      return reply(200, asked.map(presentTool))
    },
  ),

  getTool: endpoint(
    {
      method: 'GET',
      path: '/api/v1/tools/{tool}',
      tag,
      summary: 'Show a tool',
      access: anyKey,
      params: { tool: ToolName },
      responses: { 200: ToolView },
      errors: ['NOT_FOUND'],
    },
    async ({ params }) => reply(200, presentTool(await getTool(tools, params.tool))),
  ),
}

export const handler = handlerOf(appOf(endpoints))

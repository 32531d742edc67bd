import { type OpenApiDocument, openApiDocument } from '../../../lib/http/openapi/document.ts'
import { allTools } from '../../../lib/tool/registry.ts'
import { tools } from '../../tools/index.ts'
import { allEndpoints } from '../index.ts'

/**
 * The document of every route there is. It loads all that answers any: a deploy therefore has the
 * bundle hold what this returns in place of what makes it.
 */
export const build = async (): Promise<OpenApiDocument> => {
  const [endpoints, declared] = await Promise.all([allEndpoints(), allTools(tools)])
  return openApiDocument({ endpoints, tools: declared })
}

import * as z from 'zod'
import { MAX_EDGE_CODE_BYTES } from '../../../lib/deploy/router.ts'
import { all, lambdas, one } from '../synth/find.ts'
import type { Synthesis } from '../synth/synthesis.ts'
import { compareLists, differs } from './differs.ts'

const Permission = z.object({
  action: z.string(),
  function: z.string(),
  principal: z.string(),
  sourceArn: z.string().optional(),
  invokedViaFunctionUrl: z.boolean().optional(),
  functionUrlAuthType: z.string().optional(),
})

/** Who may invoke functions from outside: our API, and our Router what streams. */
export const exposureProblems = (
  synthesis: Synthesis,
  { streams }: { streams: readonly string[] },
): string[] => {
  const api = one(synthesis, 'aws:apigatewayv2/api:Api').state
  const distribution = one(synthesis, 'aws:cloudfront/distribution:Distribution').state
  const permissions = all(synthesis, 'aws:lambda/permission:Permission').map(({ inputs }) =>
    Permission.parse(inputs),
  )
  const names = new Map(lambdas(synthesis).map(({ arn, name }) => [arn, name]))
  return [
    ...permissions.flatMap(permission => {
      const name = names.get(permission.function) ?? permission.function
      const isStream = streams.includes(name)
      const source = isStream ? distribution.arn : `${api.executionArn}/*`
      const principal = isStream ? 'cloudfront.amazonaws.com' : 'apigateway.amazonaws.com'
      return [
        ...differs(`Who may invoke ${name}`, permission.principal, principal),
        ...differs(`From where ${name} may be invoked`, permission.sourceArn, source),
      ]
    }),
    ...compareLists(
      'The URL of a function',
      all(synthesis, 'aws:lambda/functionUrl:FunctionUrl').map(
        ({ inputs }) => `${inputs.functionName} ${inputs.authorizationType}`,
      ),
      streams.map(name => `${name} AWS_IAM`),
    ),
    ...streams.flatMap(name =>
      compareLists(
        `What the Router may do with ${name}:`,
        permissions
          .filter(each => each.function === name)
          .map(each => `${each.action}${each.invokedViaFunctionUrl ? ' by its URL' : ''}`),
        ['lambda:InvokeFunctionUrl', 'lambda:InvokeFunction by its URL'],
      ),
    ),
    ...signingProblems(synthesis),
    ...viewerProblems(synthesis),
  ]
}

/** A URL that asks for IAM takes only what the Router has signed. */
const signingProblems = (synthesis: Synthesis): string[] => {
  const Metadata = z.object({
    host: z.string(),
    origin: z.object({
      originAccessControlConfig: z
        .object({ enabled: z.boolean(), signingBehavior: z.string() })
        .optional(),
    }),
  })
  return all(synthesis, 'pulumi-nodejs:dynamic:Resource')
    .filter(({ name }) => name.endsWith('KvKeys'))
    .map(({ inputs }) => z.object({ metadata: z.string() }).parse(inputs.entries).metadata)
    .map(text => Metadata.parse(JSON.parse(text)))
    .filter(({ host }) => host.includes('.lambda-url.'))
    .flatMap(({ host, origin }) => {
      const { enabled, signingBehavior } = origin.originAccessControlConfig ?? {}
      return differs(
        `What the Router signs for ${host}`,
        [enabled, signingBehavior],
        [true, 'always'],
      )
    })
}

/** The Router speaks HTTPS alone, and keeps nothing. */
const viewerProblems = (synthesis: Synthesis): string[] => {
  const { inputs } = one(synthesis, 'aws:cloudfront/distribution:Distribution')
  const behavior = z
    .object({ viewerProtocolPolicy: z.string(), cachePolicyId: z.string() })
    .parse(inputs.defaultCacheBehavior)
  return [
    ...differs(
      'What the Router does with plain HTTP',
      behavior.viewerProtocolPolicy,
      'redirect-to-https',
    ),
    ...differs(
      'The Router’s cache policy',
      behavior.cachePolicyId,
      // AWS's own "CachingDisabled".
      '4135ea2d-6df8-44a3-9df3-4b5a84be39ad',
    ),
    ...(inputs.orderedCacheBehaviors === undefined ? [] : ['The Router has other behaviors']),
    ...all(synthesis, 'aws:cloudfront/function:Function').flatMap(({ name, inputs: { code } }) =>
      Buffer.byteLength(z.string().parse(code)) > MAX_EDGE_CODE_BYTES
        ? [
            `The code of ${name} has more than the ${MAX_EDGE_CODE_BYTES} bytes that CloudFront takes`,
          ]
        : [],
    ),
  ]
}

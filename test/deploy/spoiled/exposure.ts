import { all, one } from '../synth/find.ts'
import { type Fault, find } from './spoil.ts'

export const EXPOSURE_FAULTS: Fault[] = [
  [
    'a function that anyone may invoke',
    synthesis => {
      find(synthesis, 'aws:lambda/permission:Permission').inputs.principal = '*'
    },
    'is "*", not "apigateway.amazonaws.com"',
  ],
  [
    'a function that any API may invoke',
    synthesis => {
      delete find(synthesis, 'aws:lambda/permission:Permission').inputs.sourceArn
    },
    'From where',
  ],
  [
    'a URL that asks nobody who they are',
    synthesis => {
      find(synthesis, 'aws:lambda/functionUrl:FunctionUrl').inputs.authorizationType = 'NONE'
    },
    'espalier-ada-admin-task-stream NONE',
  ],
  [
    'a Router that signs nothing',
    synthesis => {
      for (const { inputs } of all(synthesis, 'pulumi-nodejs:dynamic:Resource'))
        if (inputs.entries)
          inputs.entries = JSON.parse(JSON.stringify(inputs.entries).replace('always', 'never'))
    },
    'What the Router signs',
  ],
  [
    'a Router that keeps answers',
    synthesis => {
      const { inputs } = one(synthesis, 'aws:cloudfront/distribution:Distribution')
      inputs.defaultCacheBehavior = {
        ...(inputs.defaultCacheBehavior as object),
        cachePolicyId: 'x',
      }
    },
    'The Router’s cache policy',
  ],
  [
    'more code than CloudFront runs',
    synthesis => {
      const code = one(synthesis, 'aws:cloudfront/function:Function').inputs
      code.code = `// ${'x'.repeat(10_238)}`
    },
    'has 10241 bytes; CloudFront takes 10240',
  ],
]

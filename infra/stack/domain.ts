/** The API under a name of its own: domain, certificate, the mapping of its root to the stage, and DNS records. */

import {
  type CfnDomainName,
  DomainName,
  EndpointAccessMode,
  EndpointType,
  type SecurityPolicy,
  type SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate, CertificateValidation, type ICertificate } from 'aws-cdk-lib/aws-certificatemanager';
import { AaaaRecord, ARecord, HostedZone, type IHostedZone, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayDomain } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import { hasAccessMode, type ResolvedDomain } from './domain-config.ts';

type DomainOptions = ResolvedDomain;

/** The root of the domain is the stage: no base path. */
export function createDomain(scope: Construct, options: DomainOptions, api: SpecRestApi): DomainName {
  const { name, hostedZone, securityPolicy } = options;
  const zone =
    hostedZone &&
    HostedZone.fromHostedZoneAttributes(scope, 'HostedZone', {
      hostedZoneId: hostedZone.id,
      zoneName: hostedZone.name,
    });
  const domain = new DomainName(scope, 'Domain', {
    domainName: name,
    certificate: certificateOf(scope, options, zone),
    endpointType: EndpointType.REGIONAL,
    securityPolicy: securityPolicy as SecurityPolicy,
    // The name in the TLS handshake must be that of the Host header. The older policy knows no such mode.
    ...(hasAccessMode(securityPolicy) && { endpointAccessMode: EndpointAccessMode.STRICT }),
  });
  domain.addBasePathMapping(api, { stage: api.deploymentStage });
  // The library's construct has no property for it. By default the name has IPv4 addresses only, and the AAAA record
  // would lead nowhere.
  (domain.node.defaultChild as CfnDomainName).addPropertyOverride(
    'EndpointConfiguration.IpAddressType',
    'dualstack',
  );
  if (zone) {
    const record = { zone, recordName: name, target: RecordTarget.fromAlias(new ApiGatewayDomain(domain)) };
    new ARecord(scope, 'AliasA', record);
    new AaaaRecord(scope, 'AliasAaaa', record);
  }
  return domain;
}

function certificateOf(
  scope: Construct,
  { name, certificateArn }: DomainOptions,
  zone: IHostedZone | undefined,
): ICertificate {
  return certificateArn
    ? Certificate.fromCertificateArn(scope, 'CertificateByArn', certificateArn)
    : new Certificate(scope, 'Certificate', {
        domainName: name,
        validation: CertificateValidation.fromDns(zone),
      });
}

/**
 * The modules that the client imports when it needs them, loaded beforehand: a submission imports several at the same time, and submissions that
 * run beside each other the same ones, which Jest's loader cannot do.
 */
import "../../client/applications/local-applications.ts";
import "../../client/applications/yarn-applications.ts";
import "../../client/cluster/cluster.ts";
import "../../client/cluster/site-settings.ts";
import "../../client/following/follow.ts";
import "../../client/following/follow-again.ts";
import "../../client/master/end-application.ts";
import "../../client/master/master-connection.ts";
import "../../client/results/advice.ts";
import "../../client/submission/check-on-cluster.ts";
import "../../client/submission/job-shipping.ts";
import "../../client/submission/local-submission.ts";
import "../../client/submission/prepared-runtime.ts";
import "../../client/submission/run-submission.ts";
import "../../client/submission/search-resumption.ts";
import "../../client/submission/submission.ts";

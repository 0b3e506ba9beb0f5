// A folder, a port and another one → an OpenSearch node on loopback, which ends when its standard input does.
import org.codelibs.opensearch.runner.OpenSearchRunner;

public class StartNode {
  public static void main(String[] words) throws Exception {
    OpenSearchRunner runner = new OpenSearchRunner();
    runner.onBuild((number, settings) -> {
      settings.putList("node.roles", "cluster_manager", "data", "ingest");
      settings.put("http.host", "127.0.0.1");
      settings.put("http.port", words[1]);
      settings.put("transport.host", "127.0.0.1");
      settings.put("transport.port", words[2]);
      settings.put("discovery.seed_hosts", "");
      settings.put("cluster.routing.allocation.disk.threshold_enabled", "false");
    });
    runner.build("-basePath", words[0], "-numOfNode", "1", "-clusterName", "tests", "-disableESLogger");
    System.out.println("started");
    System.in.transferTo(System.out);
    runner.close();
    System.exit(0);
  }
}

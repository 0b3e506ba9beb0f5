// Lines `CLASS JSON` → each read into the generated class m.CLASS with Jackson, and written again.
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.datatype.jsr310.JavaTimeModule;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

class ReadModels {
  public static void main(String[] args) throws Exception {
    var mapper = new ObjectMapper().registerModule(new JavaTimeModule()).disable(SerializationFeature.WRITE_DATES_AS_TIMESTAMPS);
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      var space = line.indexOf(' ');
      var read = mapper.readValue(line.substring(space + 1), Class.forName("m." + line.substring(0, space)));
      System.out.println(mapper.writeValueAsString(read));
    }
  }
}
